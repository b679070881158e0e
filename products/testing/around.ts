import type { Backend } from '../../src/core/index.ts';

/**
 * Replaces calls of a backend; `undefined` removes a call. So a test can break the way between the library and any engine.
 */
export function around(backend: Backend, calls: Partial<Backend>): Backend {
  return new Proxy(backend, {
    get(target, name) {
      if (Object.hasOwn(calls, name)) return Reflect.get(calls, name) as unknown;
      const value = Reflect.get(target, name) as unknown;
      // The method needs the backend itself as `this`: a proxy has no private fields.
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
