import type { Backend } from '../core/backend.ts';

/** A backend with some of its calls replaced: what goes wrong between the library and an engine, for any engine. */
export function around(backend: Backend, calls: Partial<Backend>): Backend {
  return new Proxy(backend, {
    get(target, name) {
      const own = Reflect.get(calls, name) as unknown;
      // On the backend itself: its private fields are not the proxy's.
      const value = own ?? (Reflect.get(target, name) as unknown);
      return typeof value === 'function' && own === undefined ? value.bind(target) : value;
    },
  });
}
