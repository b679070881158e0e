/**
 * `node:async_hooks` in a browser, which has nothing like it. The bundle has no native `await`: the bundler writes each one as a call of
 * `then`, and this `then` hands the context on, as Node does. Timers, sockets and events need no more: the simulation makes them of
 * `AsyncResource`. What runs outside of the bundle is in no context.
 */
type Context = ReadonlyMap<AsyncLocalStorage<unknown>, unknown>;

let current: Context = new Map();

function within<T>(context: Context, fn: () => T): T {
  const before = current;
  current = context;
  try {
    return fn();
  } finally {
    current = before;
  }
}

const { then } = Promise.prototype;

Object.defineProperty(Promise.prototype, 'then', {
  configurable: true,
  writable: true,
  value: function <T>(this: Promise<T>, yes?: unknown, no?: unknown) {
    const context = current;
    const inContext = (fn: unknown) =>
      typeof fn === 'function' ? (value: unknown) => within(context, () => fn(value) as unknown) : fn;
    return then.call(this, inContext(yes) as never, inContext(no) as never);
  },
});

export class AsyncLocalStorage<T> {
  getStore(): T | undefined {
    return current.get(this as AsyncLocalStorage<unknown>) as T | undefined;
  }

  run<A extends unknown[], R>(store: T, fn: (...args: A) => R, ...args: A): R {
    return within(new Map(current).set(this as AsyncLocalStorage<unknown>, store), () => fn(...args));
  }
}

export class AsyncResource {
  readonly #context = current;

  runInAsyncScope<A extends unknown[], R>(fn: (...args: A) => R, _this?: unknown, ...args: A): R {
    return within(this.#context, () => fn(...args));
  }
}
