import { type LockOptions, type LockRuntime, onceFor } from '../core/index.ts';
import type { Flights } from './flights.ts';
import { type MemoOptions, memoPlan } from './options.ts';
import type { MemoResult, MemoState, MemoWait, MemoWork } from './result.ts';

/** A key that remembers: of all callers one runs, and everybody has the result. */
export interface Memo<T = unknown> {
  /** Its key. */
  readonly key: string;
  /**
   * Gives the result that is kept. If there is none, one caller at a time runs its function, and all others get what it gave. After an
   * error, or the death of the runner, the next in line runs.
   * @throws what `fn` throws, to its own caller, unless an old result is there; LockError `LOCK_TIMEOUT`, `LOCK_ABORTED`, `LOCK_MISMATCH`, `LOCK_POISONED`,
   * `LOCK_FAILED`, `LOCK_TOO_LARGE`, `LOCK_UNAVAILABLE`, `LOCK_CLOSED`, `LOCK_DEADLOCK`, `LOCK_INVALID`
   * @example const { value } = await locks.memo('report', { keep: '1d' }).run((run) => report(run.token));
   */
  run(fn: MemoWork<T>, options?: MemoWait): Promise<MemoResult<T>>;
  /**
   * Looks, and runs nothing.
   * @throws LockError `LOCK_UNAVAILABLE`, `LOCK_MISMATCH`, `LOCK_INVALID`
   * @example const { state } = await locks.memo('report').peek();
   */
  peek(): Promise<MemoState<T>>;
  /**
   * Forgets the result, a kept error and the attempts. No later call of this process gets them. What runs now may still leave its result.
   * @returns whether there was anything
   * @example await locks.memo('report').forget();
   */
  forget(): Promise<boolean>;
}

/** @internal The memos of one `Locks`. What runs them is loaded with the first one that is used. */
export class Memos {
  readonly #runtime: LockRuntime;
  readonly #defaults: LockOptions;
  #loaded: Flights | undefined;
  readonly #flights = onceFor(async () => {
    this.#loaded = new (await import('./flights.ts')).Flights(this.#runtime);
    return this.#loaded;
  });

  constructor(runtime: LockRuntime, defaults: LockOptions) {
    this.#runtime = runtime;
    this.#defaults = defaults;
  }

  memo<T>(key: string, options?: MemoOptions<T>): Memo<T> {
    const plan = memoPlan(this.#runtime.engine, key, this.#defaults, options);
    return {
      key,
      run: (fn, wait) =>
        this.#loaded?.run(plan, fn, wait) ?? this.#flights().then((flights) => flights.run(plan, fn, wait)),
      peek: async () => (await this.#flights()).peek(plan),
      forget: async () => (this.#loaded ?? (await this.#flights())).forget(key),
    };
  }
}
