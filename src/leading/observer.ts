import {
  CALL_TIMEOUT_MS,
  dispose,
  type Engine,
  inNoContext,
  isExclusive,
  printable,
  type QueueEntry,
} from '../core/index.ts';

/** The leader, as the engine knows it. */
export interface Incumbent {
  /** The `label` option of the leader. */
  readonly label: string;
  /** The token of the term. */
  readonly token: bigint;
  /** ms since this candidate asked for the lock; undefined if the engine does not keep that time. */
  readonly since: number | undefined;
}

/**
 * The leader among the claims of a key, or null.
 * @param delay for how long an engine still lists an expired term, ms
 */
export async function incumbentOf(entries: AsyncIterable<QueueEntry>, delay = 0): Promise<Incumbent | null> {
  for await (const entry of entries) {
    if (!entry.held || !isExclusive(entry)) continue;
    if (delay > 0 && entry.remaining <= delay) continue;
    const { label, token, since } = entry;
    return printable({ label, token, since });
  }
  return null;
}

const MIN_PAUSE_MS = 50;
/** Pauses between two questions to an engine that reports no changes, and to one that does, ms. */
export const POLL_MS = 1_000;
export const POLL_BESIDE_WATCH_MS = 10_000;

export interface Observation {
  readonly engine: Engine;
  readonly key: string;
  /** ms between two questions, unless a change is reported. */
  readonly every: number;
  readonly signal: AbortSignal | undefined;
  ask(): Promise<Incumbent | null>;
  onFailure(error: unknown): void;
}

/** Asks who leads, after reported changes and from time to time. */
export class Observer {
  readonly #observation: Observation;
  /** Aborted when the engine has reported a change. */
  #changed = new AbortController();
  #watch: AsyncDisposable | undefined;
  #asked = 0;

  constructor(observation: Observation) {
    this.#observation = observation;
  }

  /**
   * Yields the first answer, and each answer that names another leader. It asks only when the caller takes the next value. So the caller gets the
   * newest leader, and no leader that came and went between two questions.
   */
  async *changes(): AsyncGenerator<Incumbent | null, void, void> {
    const { ask, onFailure } = this.#observation;
    let known: bigint | null | undefined;
    try {
      while (!this.#over) {
        await this.#arm();
        const now = await ask().catch((error) => void onFailure(error));
        // Without an answer the observation goes on.
        const token = now === undefined ? known : (now?.token ?? null);
        if (!this.#over && token !== known) {
          known = token;
          yield now!;
        }
        if (!this.#over) await this.#pause();
      }
    } finally {
      this.#end();
    }
  }

  get #over(): boolean {
    const { signal, engine } = this.#observation;
    return signal?.aborted === true || engine.activity.over;
  }

  /** Begins to watch before a question, so that no later change is missed. If the watch fails, the observer polls. */
  async #arm(): Promise<void> {
    const { engine, key, signal } = this.#observation;
    // Not in the constructor: if nobody iterates the observation, it never ends, and its listener would stay.
    signal?.addEventListener('abort', this.#end, { once: true });
    if (engine.backend.changed && !this.#watch && !signal?.aborted) {
      this.#changed = new AbortController();
      const arming = inNoContext(() => this.#watchFor(this.#changed));
      await engine.limit(() => arming, CALL_TIMEOUT_MS, 'watch', key).catch(() => {});
    }
    this.#asked = engine.clock.now();
  }

  async #watchFor(changed: AbortController): Promise<void> {
    const { engine, key } = this.#observation;
    const watch = await engine.backend.changed!(key, () => {
      if (this.#changed === changed) this.#watch = undefined;
      changed.abort();
    });
    if (this.#changed === changed && !changed.signal.aborted && !this.#watch) this.#watch = watch;
    else dispose(watch);
  }

  /** Waits for a change, or for the next time to ask. */
  async #pause(): Promise<void> {
    const { engine, every, signal } = this.#observation;
    const isUnwatched = engine.backend.changed !== undefined && !this.#watch;
    await engine.activity.pause(isUnwatched ? Math.min(every, POLL_MS) : every, false, this.#changed.signal);
    const early = this.#asked + Math.min(MIN_PAUSE_MS, every) - engine.clock.now();
    if (early > 0) await engine.activity.pause(early, false, signal);
  }

  readonly #end = (): void => {
    this.#observation.signal?.removeEventListener('abort', this.#end);
    this.#changed.abort();
    dispose(this.#watch);
    this.#watch = undefined;
  };
}
