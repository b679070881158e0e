import type { Locks } from '../../locks.ts';
import { delay } from './delay.ts';
import type { FaultInjector } from './fault-injector.ts';

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
  readonly #injector: FaultInjector;
  readonly #signal: AbortSignal;
  readonly #patience: number;
  readonly #gone = new AbortController();
  #answered = performance.now();
  /** Answers so far. */
  answers = 0;

  /** @param patience after so many ms without an answer the server is gone */
  constructor(locks: Locks, key: string, injector: FaultInjector, signal: AbortSignal, patience: number) {
    this.#patience = patience;
    this.#locks = locks;
    this.#key = key;
    this.#injector = injector;
    this.#signal = signal;
  }

  /** Aborted when the server is gone for good. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  async watch(): Promise<void> {
    await Promise.all([this.#watchEngine(), this.#watchMachine()]);
  }

  async #watchEngine(): Promise<void> {
    while (!this.#signal.aborted) {
      let slow: number | undefined;
      const late = setTimeout(() => {
        slow = this.#injector.beginDisturbance('no answer');
      }, SLOW);
      if (await this.#probe()) {
        this.#answered = performance.now();
        this.answers++;
      } else slow ??= this.#injector.beginDisturbance('no answer');
      clearTimeout(late);
      if (slow !== undefined) this.#injector.endDisturbance(slow, false);
      if (performance.now() - this.#answered > this.#patience) this.#gone.abort();
      await delay(PROBE, this.#signal);
    }
  }

  async #probe(): Promise<boolean> {
    try {
      const lease = await this.#locks.mutex(this.#key).tryAcquire();
      await lease?.release();
      return true;
    } catch {
      return false;
    }
  }

  async #watchMachine(): Promise<void> {
    for (let last = performance.now(); !this.#signal.aborted; last = performance.now()) {
      await delay(TICK, this.#signal);
      if (performance.now() - last > TICK + STALL)
        this.#injector.endDisturbance(this.#injector.beginDisturbance('slow machine'), false);
    }
  }
}
