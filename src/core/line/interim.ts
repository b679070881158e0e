import { inNoContext } from '../contract/context.ts';
import { Agenda } from '../engine/call-timeouts.ts';
import type { Engine } from '../engine/engine.ts';

/** When everything has run that runs without waiting for something. By then a caller that asks again at once has asked. */
const endOfTurn = (): Promise<void> => new Promise((resolve) => inNoContext(process.nextTick, resolve));

/** A released hold that is kept for the next caller here until it is due. */
interface LingeringHold {
  readonly due: number;
  slot: number;
  readonly onEnd: () => void;
}

/** The time between the release of a hold and its way back to the engine, for a caller of this process that comes in it. */
export class Interim {
  readonly #engine: Engine;
  /** The number of releases that leave at the end of this turn. */
  #leaving = 0;
  /** A key has one hold that lingers at most: it is an exclusive one. The process stays until it is back at the engine. */
  readonly #lingering: Agenda<LingeringHold>;

  constructor(engine: Engine) {
    this.#engine = engine;
    this.#lingering = new Agenda(engine.clock, () => this.#look(), false);
  }

  /** Whether what keeps others out here was released, and will be free without anybody's help. */
  get isOpen(): boolean {
    return this.#leaving > 0 || this.#lingering.size > 0;
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

  /** Calls `onEnd` when a caller has come, or after `ms`. */
  linger(ms: number, now: number, onEnd: () => void): void {
    const due = now + ms;
    this.#lingering.add({ due, slot: -1, onEnd }, due, now);
  }

  #look(): void {
    const now = this.#engine.clock.now();
    for (const { due } of this.#lingering.items) {
      if (due <= now) this.end();
      else this.#lingering.ringBy(due, now);
    }
  }

  /** A caller has come. */
  end(): void {
    for (const hold of this.#lingering.items) if (this.#lingering.remove(hold)) hold.onEnd();
  }

  /** No caller will come. */
  close(): void {
    this.end();
    this.#lingering.stop();
  }
}
