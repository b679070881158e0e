import type {
  Attempt,
  Claim,
  NewValue,
  StoredValue,
  ValueCondition,
  ValueRecord,
  Values,
} from '../../core/contract/backend.ts';
import type { Clock } from '../../core/contract/clock.ts';
import { answerIn, countedIn, type KeyRecord, leavingIn, overAt, rememberedIn } from './record.ts';

/** The number of old records that are looked at for each new one. So those that are over go faster than new ones come. */
const SWEPT = 2;

/** The words of keys, in this process. */
export class KeptWords implements Values {
  readonly #records = new Map<string, KeyRecord>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async look(key: string): Promise<ValueRecord> {
    return rememberedIn(this.#records.get(key), this.#clock.now());
  }

  async forget(key: string): Promise<boolean> {
    return this.#records.delete(key);
  }

  async *keys(prefix: string): AsyncIterable<string> {
    yield* [...this.#records.keys()].filter((key) => key.startsWith(prefix));
  }

  answer(key: string, answered: ValueCondition): StoredValue | undefined {
    return answerIn(this.#records.get(key), answered, this.#clock.now());
  }

  /**
   * Adds to the answer to an attempt what is known of the holds before, or of this one.
   * @param first the token of the claim that stands first
   */
  told(claim: Claim, answered: ValueCondition, attempt: Attempt, first: bigint | undefined): Attempt {
    const { key } = claim;
    const counted = countedIn(this.#records.get(key), claim, answered, attempt, this.#clock.now(), first);
    if (counted.changed) this.#keep(key, counted.changed);
    return counted.attempt;
  }

  leave(key: string, token: bigint, leave: NewValue): void {
    this.#keep(key, leavingIn(token, leave, this.#clock.now()));
  }

  #keep(key: string, record: KeyRecord): void {
    const now = this.#clock.now();
    this.#records.delete(key); // the newest is last
    this.#records.set(key, record);
    let looked = 0;
    for (const [old, each] of this.#records) {
      if (overAt(each) <= now) this.#records.delete(old);
      if (++looked === SWEPT) return;
    }
  }
}
