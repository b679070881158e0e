import type { Left } from '../core/contract/backend.ts';
import type { Clock } from '../core/contract/clock.ts';
import { aged } from './words.ts';

/** The result that was there at a time, and is due for a refresh. All get it while one makes a new one, until it is over. */
export class OldResult {
  readonly #clock: Clock;
  #found: { readonly left: Left; readonly at: number } | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  found(left: Left): void {
    this.#found = { left, at: this.#clock.now() };
  }

  get left(): Left | undefined {
    return this.#found && aged(this.#found.left, this.#clock.now() - this.#found.at);
  }
}
