import type { Backend } from '../core/backend.ts';

/**
 * A backend with some of its calls replaced, or taken away (`undefined`): what goes wrong between the library and an engine,
 * for any engine.
 */
export function around(backend: Backend, calls: Partial<Backend>): Backend {
  return new Proxy(backend, {
    get(target, name) {
      if (Object.hasOwn(calls, name)) return Reflect.get(calls, name) as unknown;
      const value = Reflect.get(target, name) as unknown;
      // On the backend itself: its private fields are not the proxy's.
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
