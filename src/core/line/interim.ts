import type { Cancel } from '../contract/clock.ts';
import { inNoContext } from '../contract/context.ts';
import type { Engine } from '../engine/engine.ts';

/** When everything has run that runs without waiting for something. By then a caller that asks again at once has asked. */
const endOfTurn = (): Promise<void> => new Promise((resolve) => inNoContext(process.nextTick, resolve));

/** The time between the release of a hold and its way back to the engine, for a caller of this process that comes in it. */
export class Interim {
  readonly #engine: Engine;
  /** The number of releases that leave at the end of this turn. */
  #leaving = 0;
  /** What becomes of the hold that lingers. */
  #onEnd: (() => void) | undefined;
  #until = 0;
  #timer: Cancel | undefined;
  /** The time at which the timer fires; 0 without one. */
  #fires = 0;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** Whether what keeps others out here was released, and will be free without anybody's help. */
  get isOpen(): boolean {
    return this.#leaving > 0 || this.#onEnd !== undefined;
  }

  /** Resolves to what `act` does at the end of this turn. */
  async endTurn<T>(act: () => Promise<T>): Promise<T> {
    const { activity } = this.#engine;
    activity.begin();
    this.#leaving++;
    try {
      await endOfTurn();
      return await act();
    } finally {
      this.#leaving--;
      activity.end();
    }
  }

  /** Calls `onEnd` when a caller has come, or after `ms`. A key has one hold that lingers at most: it is an exclusive one. */
  linger(ms: number, now: number, onEnd: () => void): void {
    this.#onEnd = onEnd;
    this.#until = now + ms;
    // The timer stays when a caller comes, as to set and clear one for each hold would cost more than the hold.
    // One that is overdue will not fire any more: a test made it a fake one.
    if (this.#until < this.#fires || this.#fires <= now) this.#arm(ms);
  }

  #arm(ms: number): void {
    this.#timer?.();
    this.#fires = this.#until;
    this.#timer = this.#engine.clock.after(ms, () => {
      this.#fires = 0;
      const left = this.#until - this.#engine.clock.now();
      if (left > 0 && this.#onEnd) this.#arm(left);
      else this.end();
    });
  }

  /** A caller has come. */
  end(): void {
    const onEnd = this.#onEnd;
    this.#onEnd = undefined;
    onEnd?.();
  }

  /** No caller will come. */
  close(): void {
    this.end();
    this.#timer?.();
    this.#fires = 0;
  }
}
