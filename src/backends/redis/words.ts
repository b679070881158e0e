import type {
  Attempt,
  Claim,
  Listing,
  NewValue,
  ValueCondition,
  ValueRecord,
  Values,
} from '../../core/contract/backend.ts';
import { MIN_VALUE_TTL_MS } from '../../core/contract/left.ts';
import { leftIn, readRecord, rememberedIn } from '../shared/record.ts';
import type { Listings } from './inspect.ts';
import { wordsOf } from './keys.ts';
import type { Resends } from './resends.ts';
import { ASK, LEAVE } from './scripts.generated.ts';
import type { Server, Shards } from './shards.ts';
import { MICRO, readAttempt, readWords, releaseArgs } from './wire.ts';

/** An age above that of any words, µs. lua/ask.lua has it, too. */
const ANY_AGE = 1e16;
/** What lua/leave.lua adds to its reply if words were left. */
const LEFT = 4;
/** The time for which an estimate of the server's clock is good, ms: NTP, which slews by up to 500 ppm, makes it 5 ms wrong by then. */
const RECENT = 10_000;

/** The words under the keys of locks, each in a key beside the lock, which expires. */
export class RedisWords implements Values {
  readonly #server: Server;
  readonly #shards: Shards;
  readonly #resends: Resends;
  readonly #remember: number;
  readonly #listings: () => Promise<Listings>;

  constructor(server: Server, shards: Shards, resends: Resends, remember: number, listings: () => Promise<Listings>) {
    this.#server = server;
    this.#shards = shards;
    this.#resends = resends;
    this.#remember = remember;
    this.#listings = listings;
  }

  look(key: string): Promise<ValueRecord> {
    return this.#server.command('look for words', 'GET', [wordsOf(this.#shards.keyOf(key))]).then((stored) => {
      if (stored === null) return rememberedIn(undefined, 0);
      const record = readRecord(String(stored), MICRO);
      const now = this.#shards.clockOf(key).lately(RECENT);
      // The server drops what is over, by its own clock. But attempts may count for longer than the words beside them, and words for less.
      const isDropped = record.counts <= record.until && record.until - record.at > MIN_VALUE_TTL_MS;
      if (now !== undefined && (isDropped || record.until <= now)) return rememberedIn(record, now);
      return this.#shards.learnTime(key).then((time) => rememberedIn(record, time));
    });
  }

  forget(key: string): Promise<boolean> {
    const forget = async (): Promise<boolean> =>
      Number(await this.#server.command('forget words', 'DEL', [wordsOf(this.#shards.keyOf(key))])) > 0;
    return this.#resends.once(forget, Boolean);
  }

  async *keys(prefix: string, progress?: Listing['progress']): AsyncIterable<string> {
    yield* (await this.#listings()).remembered(prefix, progress);
  }

  /**
   * Makes an attempt of a claim that words may answer.
   * @param attempt the arguments of the attempt itself
   * @returns the same as `readAttempt`
   */
  async ask(
    claim: Claim,
    answered: ValueCondition,
    attempt: readonly string[],
  ): Promise<ReturnType<typeof readAttempt>> {
    const { age, mark, counts } = answered;
    const oldest = Math.min(ANY_AGE, Math.floor(age * MICRO));
    const counted = counts === 0 ? 0 : Math.ceil((claim.ttl + counts) * MICRO);
    const args = [...attempt, ...releaseArgs(claim.id, this.#remember), `${oldest}`, mark, `${counted}`];
    const reply = (await this.#shards.askOfWords(ASK, { key: claim.key, args })) as unknown[];
    if (String(reply[0]) === '=') return this.#answer(reply);
    const outcome = readAttempt(reply[0], claim);
    if (!outcome.attempt || (!outcome.attempt.granted && outcome.attempt.late)) return outcome;
    const known = outcome.attempt.granted ? counts > 0 && { attempts: Number(reply[1]) } : { mark: String(reply[2]) };
    return { ...outcome, attempt: { ...outcome.attempt, ...known } };
  }

  #answer([, now, token, since, ends, text]: unknown[]): { attempt: Attempt; time: number } {
    const time = Number(now) / MICRO;
    return { attempt: { granted: false, value: leftIn(readWords(token, since, ends, text), time) }, time };
  }

  /** Gives up a hold and leaves words. @param release the arguments of the release itself */
  async leave(key: string, release: readonly string[], leave: NewValue): Promise<{ stored: boolean; reply: unknown }> {
    const { text, ttl, ageless } = leave;
    const args = [...release, text, `${Math.ceil(ttl * MICRO)}`, ageless ? '1' : '0'];
    const ask = (): Promise<unknown> => this.#shards.askOfWords(LEAVE, { key, args });
    const reply = await this.#resends.once(ask, (answer) => Number(answer) !== 0);
    const left = Number(reply) >= LEFT;
    return { stored: left, reply: left ? Number(reply) - LEFT : reply };
  }
}
