import type { Clock } from '../../core/clock.ts';
import type { Watcher } from './wire/watches.ts';

/** Before what failed is tried again: core's own timer stands beside the watch meanwhile. ms. */
const PAUSE = 250;

/**
 * Keeps one waiting claim informed until it is disposed of: `look` arms whatever one-time watch is right now, `wake` is for
 * when that has told, and then it looks again.
 */
export class LineWatch implements AsyncDisposable {
  readonly #look: (tell: Watcher) => Promise<boolean>;
  readonly #trouble: () => void;
  readonly #clock: Clock;
  #over = false;
  #turn = 0;
  #cancel = (): void => {};

  /**
   * @param look armed, or over: resolves to whether there is something left to wait for
   * @param trouble told when `look` has failed
   */
  constructor(look: (tell: Watcher) => Promise<boolean>, trouble: () => void, clock: Clock) {
    this.#look = look;
    this.#trouble = trouble;
    this.#clock = clock;
  }

  /** Settles when it is armed for the first time. Never rejects. */
  async arm(): Promise<void> {
    if (this.#over) return;
    const turn = ++this.#turn;
    // Only the first of what this turn has armed starts the next: a line must not come to be watched twice over.
    const isOver = (): boolean => this.#over || turn !== this.#turn;
    const tell = (): void => {
      if (!isOver()) void this.arm();
    };
    try {
      if (!(await this.#look(Object.assign(tell, { isOver })))) this.#over = true;
    } catch {
      if (this.#over) return;
      this.#cancel = this.#clock.after(PAUSE, () => void this.arm(), true);
      this.#trouble();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over = true;
    this.#cancel();
  }
}
