import { inNoContext } from '../contract/clock.ts';
import { Agenda } from '../engine/call-timeouts.ts';
import type { Engine } from '../engine/engine.ts';

/** Resolves at the end of this turn. By then a caller that asks again at once has asked. */
const endOfTurn = (): Promise<void> => new Promise((resolve) => inNoContext(process.nextTick, resolve));

/** A released hold that this process keeps for its next caller, until the time `due`. */
interface LingeringHold {
  readonly due: number;
  slot: number;
  readonly onEnd: () => Promise<unknown>;
}

/** Keeps released holds for a while before they go back to the engine, so that a caller of this process can have them. */
export class Interim {
  readonly #engine: Engine;
  /** The releases that are sent at the end of this turn, or are on their way. None of them rejects. */
  readonly #leaving = new Set<Promise<unknown>>();
  /** The holds that linger: at most one, since such a hold is exclusive. The process stays alive until the hold is back at the engine. */
  readonly #lingering: Agenda<LingeringHold>;
  /** Whether no caller will come any more. */
  isClosed = false;

  constructor(engine: Engine) {
    this.#engine = engine;
    this.#lingering = new Agenda(engine.clock, () => this.#look(), false);
  }

  /** Whether the hold that keeps callers here waiting was released already, so that the key will be free soon. */
  get isOpen(): boolean {
    return this.#leaving.size > 0 || this.#lingering.size > 0;
  }

  /** Resolves when the releases that are on their way now have ended. It does not wait for later ones. */
  get ended(): Promise<unknown> {
    return Promise.all(this.#leaving);
  }

  /** Calls `act` at the end of this turn, and gives its result. */
  endTurn<T>(act: () => Promise<T>): Promise<T> {
    const { activity } = this.#engine;
    activity.begin();
    return this.#follow(endOfTurn().then(act), () => activity.end());
  }

  async #follow<T>(leaving: Promise<T>, onEnd?: () => void): Promise<T> {
    this.#leaving.add(leaving);
    try {
      return await leaving;
    } finally {
      this.#leaving.delete(leaving);
      onEnd?.();
    }
  }

  /** Calls `onEnd` when a caller comes, or after `ms`. `onEnd` gives the hold back. */
  linger(ms: number, now: number, onEnd: () => Promise<unknown>): void {
    const due = now + ms;
    this.#lingering.add({ due, slot: -1, onEnd }, due, now);
  }

  #look(): void {
    const now = this.#engine.clock.now();
    for (const { due } of this.#lingering.items) {
      if (due <= now) this.end();
      else this.#lingering.fireBy(due, now);
    }
  }

  /** Ends the lingering, since a caller has come. */
  end(): void {
    for (const hold of this.#lingering.items) if (this.#lingering.remove(hold)) void this.#follow(hold.onEnd());
  }

  /** Ends the lingering for good. */
  close(): void {
    this.isClosed = true;
    this.end();
    this.#lingering.stop();
  }
}
