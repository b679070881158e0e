import type { Clock } from '../contract/clock.ts';

/** A sleep that can be ended early. A ring while nobody sleeps is kept for the next sleep. */
export class Bell {
  readonly #clock: Clock;
  #rung = false;
  #end: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  readonly ring = (): void => {
    this.#rung = true;
    this.#end?.();
  };

  /** Resolves after a ring, at the latest after `ms`. */
  async sleep(ms: number, background = false): Promise<void> {
    if (!this.#rung) {
      await new Promise<void>((resolve) => {
        const cancel = this.#clock.after(ms, resolve, background);
        this.#end = () => {
          cancel();
          resolve();
        };
      });
      this.#end = undefined;
    }
    this.#rung = false;
  }
}
