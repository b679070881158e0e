import type { Answerable, Attempt, Claim, Handle, Leave, Release } from '../../core/contract/backend.ts';
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

  async attempt(claim: Claim, answered: Answerable): Promise<Attempt> {
    const look = await this.#words.read(claim);
    const left = answerIn(look.record, answered, look.now);
    if (left && look.stands) await this.#places.release(claim);
    if (left) return { granted: false, left };
    const attempt = await this.#places.attempt(claim);
    return attempt.granted || attempt.late ? this.#told(claim, answered, attempt) : withMark(attempt, look);
  }

  /** A release, after which the next claim takes the place, or is answered. */
  async release(handle: Handle, next: Claim, answered: Answerable): Promise<Release> {
    const { freed, next: attempt } = await this.#places.release(handle, next);
    return { freed, next: await this.#told(next, answered, attempt!) };
  }

  async leave(handle: Handle, leave: Leave): Promise<Release> {
    const left = await this.#places.leaveBy(handle, (token) => this.#words.leave(handle, token, leave));
    return left ? { freed: true, left } : { ...(await this.#places.release(handle)), left };
  }

  /** What an attempt came to, with what was left or begun before. */
  async #told(claim: Claim, answered: Answerable, attempt: LineAttempt): Promise<Attempt> {
    if (!attempt.granted && attempt.late) return attempt;
    const look = await this.#words.read(claim);
    if (!attempt.granted) return withMark(attempt, look);
    const { record, now } = look;
    const left = answerIn(record, answered, now);
    if (left) {
      await this.#places.release(claim);
      return { granted: false, left };
    }
    if (answered.counts === 0) return attempt;
    const known = record?.begun === attempt.token ? record.tries : undefined;
    return { ...attempt, tries: known ?? (await this.#words.begin(claim, attempt.token, answered)) };
  }
}

const withMark = ({ first, ...refusal }: Extract<LineAttempt, { granted: false }>, { record, now }: Look): Attempt => ({
  ...refusal,
  mark: markBehind(record, first, now),
});
