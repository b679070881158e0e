import { type LockOptions, type LockRuntime, onceFor } from '../core/index.ts';
import type { Memo, MemoOptions } from './memo.ts';
import { memoPlan } from './options.ts';
import type { SharedRuns } from './shared-runs.ts';

/** @internal The memos of one `Locks`. The code that runs them is loaded at the first use of a memo. */
export class Memos {
  readonly #runtime: LockRuntime;
  readonly #defaults: LockOptions;
  #loaded: SharedRuns | undefined;
  readonly #sharedRuns = onceFor(async () => {
    this.#loaded = new (await import('./shared-runs.ts')).SharedRuns(this.#runtime);
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
        this.#loaded?.run(plan, fn, wait) ?? this.#sharedRuns().then((runs) => runs.run(plan, fn, wait)),
      peek: async () => (await this.#sharedRuns()).peek(plan),
      forget: async () => (this.#loaded ?? (await this.#sharedRuns())).forget(key),
    };
  }
}
