import { CALL_TIMEOUT, dispose, type Engine, inNoContext } from '../core/index.ts';

/** The shortest time between two questions after many changes, ms. */
const SOONEST = 50;
/** How often to ask an engine that reports no changes, and one that does; ms. */
export const UNTOLD = 1_000;
export const TOLD = 10_000;

/** What an observer waits for between two questions: a reported change, or the next time to ask. */
export class News {
  readonly #engine: Engine;
  readonly #key: string;
  readonly #every: number;
  readonly #signal: AbortSignal | undefined;
  /** Aborted when there is something to ask about. */
  #told = new AbortController();
  #watch: AsyncDisposable | undefined;
  #asked = 0;

  constructor(engine: Engine, key: string, every: number, signal: AbortSignal | undefined) {
    this.#engine = engine;
    this.#key = key;
    this.#every = every;
    this.#signal = signal;
  }

  /** Arms the watch before a question, so that it hears of every later change. If that fails, the observer polls. */
  async arm(): Promise<void> {
    const { backend, clock } = this.#engine;
    // Not before the first question: an observation that nobody iterates has no end, and would listen for ever.
    this.#signal?.addEventListener('abort', this.end, { once: true });
    if (backend.changed && !this.#watch && !this.#signal?.aborted) {
      this.#told = new AbortController();
      const arming = inNoContext(() => this.#watchFor(this.#told));
      await this.#engine.limit(() => arming, CALL_TIMEOUT, 'watch', this.#key).catch(() => {});
    }
    this.#asked = clock.now();
  }

  async #watchFor(told: AbortController): Promise<void> {
    const watch = await this.#engine.backend.changed!(this.#key, () => {
      if (this.#told === told) this.#watch = undefined;
      told.abort();
    });
    if (this.#told === told && !told.signal.aborted && !this.#watch) this.#watch = watch;
    else dispose(watch);
  }

  /** Waits for a change, or for the next time to ask. */
  async pause(): Promise<void> {
    const { clock } = this.#engine;
    const tells = this.#engine.backend.changed !== undefined;
    const rate = tells && !this.#watch ? Math.min(this.#every, UNTOLD) : this.#every;
    await this.#engine.activity.pause(rate, false, this.#told.signal);
    const early = this.#asked + Math.min(SOONEST, this.#every) - clock.now();
    if (early > 0) await this.#engine.activity.pause(early, false, this.#signal);
  }

  readonly end = (): void => {
    this.#signal?.removeEventListener('abort', this.end);
    this.#told.abort();
    dispose(this.#watch);
    this.#watch = undefined;
  };
}
