import type { Locks } from '../../locks.ts';
import type { Inflict } from './inflict.ts';
import { pass } from './pass.ts';

/** Time between two looks at the engine, and at this process itself; ms. */
const PROBE = 1_000;
const TICK = 100;
/** After so many ms an engine, or a machine, is slow. */
const SLOW = 800;
const STALL = 400;

/**
 * Checks whether the engine answers on a connection without faults, and whether the machine lets this process run. If not, the
 * judge blames nobody for waiting.
 */
export class Watcher {
  readonly #locks: Locks;
  readonly #key: string;
  readonly #inflict: Inflict;
  readonly #signal: AbortSignal;
  readonly #patience: number;
  readonly #gone = new AbortController();
  #answered = performance.now();
  /** Answers so far. */
  answers = 0;

  /** @param patience after so many ms without an answer the server is gone */
  constructor(locks: Locks, key: string, inflict: Inflict, signal: AbortSignal, patience: number) {
    this.#patience = patience;
    this.#locks = locks;
    this.#key = key;
    this.#inflict = inflict;
    this.#signal = signal;
  }

  /** Aborted when the server is gone for good. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  async watch(): Promise<void> {
    await Promise.all([this.#probe(), this.#tick()]);
  }

  async #probe(): Promise<void> {
    while (!this.#signal.aborted) {
      let slow: number | undefined;
      const late = setTimeout(() => {
        slow = this.#inflict.begun('no answer');
      }, SLOW);
      if (await this.#ask()) {
        this.#answered = performance.now();
        this.answers++;
      } else slow ??= this.#inflict.begun('no answer');
      clearTimeout(late);
      if (slow !== undefined) this.#inflict.over(slow, false);
      if (performance.now() - this.#answered > this.#patience) this.#gone.abort();
      await pass(PROBE, this.#signal);
    }
  }

  async #ask(): Promise<boolean> {
    try {
      const lease = await this.#locks.mutex(this.#key).tryAcquire();
      await lease?.release();
      return true;
    } catch {
      return false;
    }
  }

  async #tick(): Promise<void> {
    for (let last = performance.now(); !this.#signal.aborted; last = performance.now()) {
      await pass(TICK, this.#signal);
      if (performance.now() - last > TICK + STALL) this.#inflict.over(this.#inflict.begun('slow machine'), false);
    }
  }
}
