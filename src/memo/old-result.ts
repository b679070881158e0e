import type { Clock, StoredValue } from '../core/index.ts';
import { aged } from './words.ts';

/** The result that was there at a time, and is due for a refresh. */
export class OldResult {
  readonly #clock: Clock;
  readonly #found: StoredValue;
  readonly #at: number;

  constructor(found: StoredValue, clock: Clock) {
    this.#clock = clock;
    this.#found = found;
    this.#at = clock.now();
  }

  /** Undefined when it is over. */
  get left(): StoredValue | undefined {
    return aged(this.#found, this.#clock.now() - this.#at);
  }
}
