import { AsyncResource } from 'node:async_hooks';

const MANUAL = { requireManualDestroy: true } as const;

/**
 * The async context of the caller that makes one: what `AsyncLocalStorage` gives there. Timers, sockets and event listeners run in the
 * context of the caller that armed, opened or triggered them. If callers share these, one of them would run in the context of another:
 * it would read the other's request and re-enter the other's locks.
 */
export class Context {
  readonly #resource = new AsyncResource('holdfast', MANUAL);

  run<T>(fn: () => T): T {
    return this.#resource.runInAsyncScope(fn);
  }
}

/** The context of nobody: it is made when the module is loaded. A snapshot of `AsyncLocalStorage` would take ten times as long. */
const nobody = new AsyncResource('holdfast', MANUAL);

/** Calls `fn` in the context of no caller. It is for what callers share. */
export function inNoContext<A extends unknown[], T>(fn: (...args: A) => T, ...args: A): T {
  return nobody.runInAsyncScope(fn, undefined, ...args);
}

/**
 * Gives the promise of a call. What the call throws becomes a rejection, and a result that is no promise becomes one: not every backend is
 * written in TypeScript. This is no async function, since those settle some turns later.
 */
export function promiseOf<T>(call: () => Promise<T>): Promise<T> {
  try {
    return Promise.resolve(call()); // a promise stays the same promise
  } catch (error) {
    return Promise.reject(error);
  }
}
