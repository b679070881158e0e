import { inNoContext } from '../contract/context.ts';
import type { Engine } from '../engine/engine.ts';
import { Bell } from '../engine/listener.ts';

/** When everything has run that runs without waiting for something. By then a caller that asks again at once has asked. */
const endOfTurn = (): Promise<void> => new Promise((resolve) => inNoContext(process.nextTick, resolve));

/** The time between the release of a hold and its way back to the engine, for a caller of this process that comes in it. */
export class Interim {
  readonly #engine: Engine;
  #bell: Bell | undefined;
  #count = 0;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** Whether what keeps others out here was released, and will be free without anybody's help. */
  get isOpen(): boolean {
    return this.#count > 0;
  }

  /** Resolves to what `act` does when it is over: after `ms`, or when a caller has come. 0: at the end of the turn. */
  async before<T>(act: () => Promise<T>, ms: number): Promise<T> {
    const { activity } = this.#engine;
    activity.begin();
    this.#count++;
    try {
      await (ms > 0 ? this.#sleep(ms) : endOfTurn());
      return await act();
    } finally {
      this.#count--;
      activity.end();
    }
  }

  /** A caller has come, or none will. */
  end(): void {
    this.#bell?.ring();
  }

  async #sleep(ms: number): Promise<void> {
    this.#bell = new Bell(this.#engine.clock);
    await this.#bell.sleep(ms);
    this.#bell = undefined;
  }
}
