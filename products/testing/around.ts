import type { Backend } from '../../src/core/index.ts';

/**
 * Replaces some calls of a backend, or removes them (`undefined`). So a test can break the way between the library and any
 * engine.
 */
export function around(backend: Backend, calls: Partial<Backend>): Backend {
  return new Proxy(backend, {
    get(target, name) {
      if (Object.hasOwn(calls, name)) return Reflect.get(calls, name) as unknown;
      const value = Reflect.get(target, name) as unknown;
      // Bound to the backend itself: a proxy has no private fields.
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
