import type { Attempt, Claim, Handle, NewValue, Release, ValueCondition } from '../../core/contract/backend.ts';
import { answerIn, markBehind } from '../shared/record.ts';
import type { Places } from './places.ts';
import type { LineAttempt } from './verdict.ts';
import type { Look, StoredWords } from './words.ts';

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
