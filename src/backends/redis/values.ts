import {
  type Attempt,
  type Claim,
  type Hints,
  type Listing,
  MIN_VALUE_TTL_MS,
  type NewValue,
  type ValueCondition,
  type ValueRecord,
  type Values,
} from '../../core/index.ts';
import { readRecord, storedValueIn, valueRecordOf } from '../shared/record.ts';
import type { Listings } from './inspect.ts';
import { ASK, STORE } from './scripts.generated.ts';
import { hintKeyOf, type Shards, valueKeyOf } from './server.ts';
import { readAttempt, readValue, releaseArgs, US_PER_MS } from './wire.ts';

/** The greatest age that a claim may accept, µs: every value is younger. Equals `ANY_AGE` of lua/values.lua. */
const MAX_AGE_US = 1e16;
/** The script `store` adds this to its reply if it stored the value. */
const STORED = 4;
/** How long an estimate of the server's clock is used, ms. NTP slews a clock by up to 500 ppm, which is 5 ms in this time. */
const CLOCK_ESTIMATE_MS = 10_000;

/** Keeps the value of each lock in a key beside the lock. The key expires. */
export class RedisValues implements Values {
  readonly #shards: Shards;
  readonly #listings: () => Promise<Listings>;

  constructor(shards: Shards, listings: () => Promise<Listings>) {
    this.#shards = shards;
    this.#listings = listings;
  }

  look(key: string): Promise<ValueRecord> {
    return this.#shards.command('look for a value', 'GET', [valueKeyOf(this.#shards.keyOf(key))]).then((stored) => {
      if (stored === null) return valueRecordOf(undefined, 0);
      const record = readRecord(String(stored), US_PER_MS);
      const now = this.#shards.clocks.of(key).lately(CLOCK_ESTIMATE_MS);
      // The server drops the key when the value and the attempts are both over. So if the attempts last longer, the found value may be over already.
      const isDropped = record.counts <= record.until && record.until - record.at > MIN_VALUE_TTL_MS;
      if (now !== undefined && (isDropped || record.until <= now)) return valueRecordOf(record, now);
      return this.#shards.learnTime(key).then((time) => valueRecordOf(record, time));
    });
  }

  forget(key: string): Promise<boolean> {
    const forget = async (): Promise<boolean> =>
      Number(await this.#shards.command('forget a value', 'DEL', [valueKeyOf(this.#shards.keyOf(key))])) > 0;
    return this.#shards.once(forget, Boolean);
  }

  async *keys(prefix: string, progress?: Listing['progress']): AsyncIterable<string> {
    yield* (await this.#listings()).withValue(prefix, progress);
  }

  /**
   * Makes an attempt of a claim that a value may answer.
   * @param attempt the arguments of the script `attempt`
   * @returns the same as `readAttempt`
   */
  async ask(
    claim: Claim,
    accepts: ValueCondition,
    attempt: readonly string[],
  ): Promise<ReturnType<typeof readAttempt>> {
    const { age, mark, counts } = accepts;
    const oldest = Math.min(MAX_AGE_US, Math.floor(age * US_PER_MS));
    const counted = counts === 0 ? 0 : Math.ceil((claim.ttl + counts) * US_PER_MS);
    const args = [...attempt, ...releaseArgs(claim.id, this.#shards.remember), `${oldest}`, mark, `${counted}`];
    const reply = (await this.#shards.askOne(ASK, { key: claim.key, args }, true)) as unknown[];
    if (String(reply[0]) === '=') return this.#answer(reply);
    const outcome = readAttempt(reply[0], claim);
    if (!outcome.attempt || (!outcome.attempt.granted && outcome.attempt.late)) return outcome;
    const known = outcome.attempt.granted ? counts > 0 && { attempts: Number(reply[1]) } : { mark: String(reply[2]) };
    return { ...outcome, attempt: { ...outcome.attempt, ...known } };
  }

  #answer([, now, token, since, ends, text]: unknown[]): { attempt: Attempt; time: number } {
    const time = Number(now) / US_PER_MS;
    return { attempt: { granted: false, value: storedValueIn(readValue(token, since, ends, text), time) }, time };
  }

  /** Stores a value and releases the hold. @param release the arguments of the script `release` */
  async store(key: string, release: readonly string[], value: NewValue): Promise<{ stored: boolean; reply: unknown }> {
    const { text, ttl, ageless } = value;
    const args = [...release, text, `${Math.ceil(ttl * US_PER_MS)}`, ageless ? '1' : '0'];
    const ask = (): Promise<unknown> => this.#shards.askOne(STORE, { key, args }, true);
    const reply = await this.#shards.once(ask, (answer) => Number(answer) !== 0);
    const stored = Number(reply) >= STORED;
    return { stored, reply: stored ? Number(reply) - STORED : reply };
  }
}

/** Keeps each hint in a key of its own, which expires. */
export const hintsOf = (shards: Shards): Hints => ({
  read: async (name) => {
    const text = await shards.command('read a hint', 'GET', [hintKeyOf(shards.prefix, name)]);
    return text === null ? undefined : String(text);
  },
  write: async (name, text, ttl) => {
    const key = hintKeyOf(shards.prefix, name);
    if (text === undefined) await shards.command('forget a hint', 'DEL', [key]);
    else await shards.command('keep a hint', 'SET', [key], text, 'PX', `${Math.ceil(ttl)}`);
  },
});
