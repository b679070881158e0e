import type {
  Attempt,
  Claim,
  Handle,
  NewValue,
  Release,
  ValueCondition,
  ValueRecord,
  Values,
} from '../../core/index.ts';
import { answerIn, type KeyRecord, markBehind, rememberedIn } from '../shared/record.ts';
import type { Row } from './connection.ts';
import { isNoRight, isNoTable } from './errors.ts';
import type { Places } from './places.ts';
import { type Lines, pages } from './queues.ts';
import * as sql from './sql.generated.ts';
import { type LineAttempt, MICRO, mark } from './stored-queue.ts';
import type { Table } from './table.ts';

/** How often the row of a key is made for words: a call of `forget` may take it away again. */
const TRIES = 3;

/** What is under a key. */
export interface Look {
  readonly record: KeyRecord | undefined;
  /** The server's time, ms. */
  readonly now: number;
  /** Whether the claim that asks stands in the line. */
  readonly stands: boolean;
}

/** Words in a table of their own. The first use makes the table. */
export class StoredWords implements Values {
  readonly #table: Table;
  readonly #lines: Lines;

  constructor(table: Table, lines: Lines) {
    this.#table = table;
    this.#lines = lines;
  }

  async *keys(prefix: string): AsyncIterable<string> {
    for await (const { name } of pages(
      (names) => this.#table.orMake(sql.words, () => this.#table.read(sql.wordsKeys, names)),
      this.#lines,
      prefix,
    ))
      yield this.#lines.keyOf(name);
  }

  async look(key: string): Promise<ValueRecord> {
    const { record, now } = await this.read({ key, id: '' });
    return rememberedIn(record, now);
  }

  async forget(key: string): Promise<boolean> {
    return (await this.#write(sql.wordsForget, { name: this.#lines.lockNameOf(key) })).affectedRows > 0;
  }

  async read({ key, id }: Handle): Promise<Look> {
    const values = { name: this.#lines.lockNameOf(key), mark: mark(id) };
    const [row] = await this.#table.orMake(sql.words, () => this.#table.read(sql.wordsLook, values));
    return { record: recordOf(row!), now: Number(row!.now) / MICRO, stands: Number(row!.stands) > 0 };
  }

  /** Notes that a hold has begun. @returns the attempts, this one included */
  async begin({ key, ttl }: Claim, token: bigint, { mark, counts }: ValueCondition): Promise<number> {
    const values = { name: this.#lines.lockNameOf(key), token: `${token}`, mark, counts: micro(ttl + counts) };
    return Number((await this.#write(sql.wordsBegin, values)).insertId);
  }

  /** Gives up the hold with this token, and leaves words. @returns false where it does not hold */
  async leave({ key, id }: Handle, token: bigint, { text, ttl, ageless }: NewValue): Promise<boolean> {
    const name = this.#lines.lockNameOf(key);
    const stays = { ttl: micro(ttl), fresh: micro(ageless ? ttl : 0) };
    const values = { name, mark: mark(id), token: `${token}`, text: Buffer.from(text), ...stays };
    for (let attempts = 0; attempts < TRIES; attempts++) {
      if ((await this.#write(sql.wordsLeave, values)).affectedRows > 0) return true;
      if ((await this.#write(sql.wordsRow, { name })).affectedRows === 0) return false;
    }
    throw new Error('the row of the words was taken away each time it was made');
  }

  #write(text: string, values: Parameters<Table['write']>[1]): ReturnType<Table['write']> {
    return this.#table.orMake(sql.words, () => this.#table.write(text, values));
  }
}

/** Removes words of which nothing counts any more, where there are any that this user may remove. */
export async function sweepWords(table: Table): Promise<void> {
  try {
    while ((await table.write(sql.wordsSweep)).affectedRows > 0);
  } catch (error) {
    const { cause } = error as Error;
    if (!isNoTable(cause) && !isNoRight(cause)) throw error;
  }
}

const micro = (ms: number): string => `${Math.ceil(ms * MICRO)}`;

const recordOf = ({ attempts, begun, mark, counts, token, since, expires, text }: Row): KeyRecord | undefined =>
  attempts === null
    ? undefined
    : {
        attempts: Number(attempts),
        begun: BigInt(String(begun)),
        mark: String(mark),
        counts: Number(counts) / MICRO,
        token: BigInt(String(token)),
        at: Number(since) / MICRO,
        until: Number(expires) / MICRO,
        text: String(text),
      };

/**
 * The attempts of claims that words may answer. Each look is a statement of its own, so one comes after a grant, too: a hold that ended
 * before it has left its words by then.
 */
export class Inquiries {
  readonly #places: Places;
  readonly #words: StoredWords;

  constructor(places: Places, words: StoredWords) {
    this.#places = places;
    this.#words = words;
  }

  async attempt(claim: Claim, answered: ValueCondition): Promise<Attempt> {
    const look = await this.#words.read(claim);
    const value = answerIn(look.record, answered, look.now);
    if (value && look.stands) await this.#places.release(claim);
    if (value) return { granted: false, value };
    const attempt = await this.#places.attempt(claim);
    return attempt.granted || attempt.late ? this.#told(claim, answered, attempt) : withMark(attempt, look);
  }

  /** A release, after which the next claim takes the place, or is answered. */
  async release(handle: Handle, next: Claim, answered: ValueCondition): Promise<Release> {
    const { freed, next: attempt } = await this.#places.release(handle, next);
    return { freed, next: await this.#told(next, answered, attempt!) };
  }

  async leave(handle: Handle, leave: NewValue): Promise<Release> {
    const stored = await this.#places.leaveBy(handle, (token) => this.#words.leave(handle, token, leave));
    return stored ? { freed: true, stored } : { ...(await this.#places.release(handle)), stored };
  }

  /** What an attempt came to, with what was left or begun before. */
  async #told(claim: Claim, answered: ValueCondition, attempt: LineAttempt): Promise<Attempt> {
    if (!attempt.granted && attempt.late) return attempt;
    const look = await this.#words.read(claim);
    if (!attempt.granted) return withMark(attempt, look);
    const { record, now } = look;
    const value = answerIn(record, answered, now);
    if (value) {
      await this.#places.release(claim);
      return { granted: false, value };
    }
    if (answered.counts === 0) return attempt;
    const known = record?.begun === attempt.token ? record.attempts : undefined;
    return { ...attempt, attempts: known ?? (await this.#words.begin(claim, attempt.token, answered)) };
  }
}

const withMark = ({ first, ...refusal }: Extract<LineAttempt, { granted: false }>, { record, now }: Look): Attempt => ({
  ...refusal,
  mark: markBehind(record, first, now),
});
