import { AsyncResource } from 'node:async_hooks';

const MANUAL = { requireManualDestroy: true } as const;

/**
 * The async context of whoever makes one: what `AsyncLocalStorage` gives there. Timers, sockets and event listeners run in the
 * context of whoever armed, opened or triggered them. Where callers share these, one would run in the context of another: it
 * would read the other's request and re-enter the other's locks.
 */
export class Context {
  readonly #resource = new AsyncResource('holdfast', MANUAL);

  run<T>(fn: () => T): T {
    return this.#resource.runInAsyncScope(fn);
  }
}

/** Made when the module is loaded, where no caller is: nobody's. A snapshot of `AsyncLocalStorage` would take ten times as long. */
const nobody = new AsyncResource('holdfast', MANUAL);

/** Calls `fn` in no caller's context: for what callers share. */
export function inNoContext<A extends unknown[], T>(fn: (...args: A) => T, ...args: A): T {
  return nobody.runInAsyncScope(fn, undefined, ...args);
}

/**
 * The promise of a call. What the call throws becomes a rejection, and a result that is no promise becomes one: not every backend is
 * written in TypeScript. This is no async function, since those settle some turns later.
 */
export function promiseOf<T>(call: () => Promise<T>): Promise<T> {
  try {
    return Promise.resolve(call()); // a promise stays the same promise
  } catch (error) {
    return Promise.reject(error);
  }
}
