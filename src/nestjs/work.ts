import { setTimeout as pass } from 'node:timers/promises';

/** The work of the application's objects under locks. It has to settle before the objects are destroyed. */
export class Work {
  readonly #settle: number;
  readonly #running = new Map<object, Set<Promise<unknown>>>();
  readonly #stop = new AbortController();
  #deadline = Number.POSITIVE_INFINITY;

  /** @param settle how long to wait for all work, from the first call of `stop`, ms */
  constructor(settle: number) {
    this.#settle = settle;
  }

  /** Aborted when the application goes down. */
  get stopped(): AbortSignal {
    return this.#stop.signal;
  }

  /** Runs the work, and keeps track of it until it has settled. */
  async run<T>(owner: object, fn: () => Promise<T>): Promise<T> {
    const running = fn();
    const own = this.#running.get(owner) ?? new Set();
    this.#running.set(owner, own.add(running));
    try {
      return await running;
    } finally {
      own.delete(running);
      if (own.size === 0) this.#running.delete(owner);
    }
  }

  /**
   * Aborts `stopped`, and waits for the work of one owner, or of all.
   * @returns whether it has settled in time
   */
  async stop(owner?: object): Promise<boolean> {
    if (!this.#stop.signal.aborted) {
      this.#deadline = performance.now() + this.#settle;
      this.#stop.abort();
    }
    const late = new AbortController();
    const wait = pass(Math.max(0, this.#deadline - performance.now()), false, { signal: late.signal });
    try {
      return await Promise.race([this.settled(owner).then(() => true), wait]);
    } finally {
      late.abort();
      await wait.catch(() => {});
    }
  }

  /** Waits without a limit. */
  async settled(owner?: object): Promise<void> {
    const groups = owner ? [this.#running.get(owner) ?? []] : [...this.#running.values()];
    await Promise.allSettled(groups.flatMap((group) => [...group]));
  }
}
