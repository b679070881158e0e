import {
  type Attempt,
  type Claim,
  invalid,
  isAnswer,
  type LockError,
  type NewValue,
  NO_MARK,
  type StoredValue,
  type ValueCondition,
  type ValueRecord,
} from '../../core/index.ts';

/** The longest value, bytes, unless the engine has another limit. It burdens no server, pool or client. */
export const MAX_VALUE_BYTES = 65_536;

/** The value and the attempts of a key, stored beside its queue. Times are of the engine's clock, ms. */
export interface KeyRecord {
  /**
   * The attempts: holds that began since a value was last stored, of claims that count (`ValueCondition.counts`). Their number, the token and
   * the mark of the last one, and the time until which they count.
   */
  readonly attempts: number;
  readonly begun: bigint;
  readonly mark: string;
  readonly counts: number;
  /** The value, if one was stored: the token of the hold that stored it, when its age begins, and until when it is valid. */
  readonly token: bigint;
  readonly at: number;
  readonly until: number;
  readonly text: string;
}

const NO_RECORD: KeyRecord = { attempts: 0, begun: 0n, mark: NO_MARK, counts: 0, token: 0n, at: 0, until: 0, text: '' };

/** A value without an age has `at` equal to `until`. Both are rounded, and may then differ by up to this, ms. */
const AGE_ROUNDING_MS = 1;

export function storedValueIn(
  record: Pick<KeyRecord, 'text' | 'token' | 'at' | 'until'> | undefined,
  now: number,
): StoredValue | undefined {
  if (!record || record.until <= now) return undefined;
  const { text, token, at, until } = record;
  return { text, token, age: until - at <= AGE_ROUNDING_MS ? 0 : now - at, validFor: until - now };
}

export function answerIn(record: KeyRecord | undefined, { age }: ValueCondition, now: number): StoredValue | undefined {
  const value = storedValueIn(record, now);
  return value && isAnswer(value, age) ? value : undefined;
}

/** Counts a grant. Gives the same record if the claim does not count, or if this grant or a later one was counted before. */
function begunIn(
  record: KeyRecord | undefined,
  token: bigint,
  { mark, counts }: ValueCondition,
  ttl: number,
  now: number,
): KeyRecord | undefined {
  if (counts === 0 || (record && (record.begun >= token || record.token >= token))) return record;
  const attempts = attemptsIn(record, now) + 1;
  return { ...(record ?? NO_RECORD), attempts, begun: token, mark, counts: now + ttl + counts };
}

/**
 * Adds the number of attempts to a grant, or the mark of the holder to a refusal. If the attempt changes the record, gives the new record, too.
 * @param first the token at the head of the queue
 */
export function countedIn(
  record: KeyRecord | undefined,
  { ttl }: Claim,
  answered: ValueCondition,
  attempt: Attempt,
  now: number,
  first: bigint | undefined,
): { readonly attempt: Attempt; readonly changed?: KeyRecord } {
  if (!attempt.granted)
    return { attempt: attempt.late ? attempt : { ...attempt, mark: markBehind(record, first, now) } };
  const begun = begunIn(record, attempt.token, answered, ttl, now);
  if (!begun || answered.counts === 0) return { attempt };
  return { attempt: { ...attempt, attempts: begun.attempts }, ...(begun !== record && { changed: begun }) };
}

/** Makes the record of a new value. The value ends the attempts. */
export const recordWith = (token: bigint, { text, ttl, ageless = false }: NewValue, now: number): KeyRecord => ({
  ...NO_RECORD,
  token,
  at: ageless ? now + ttl : now,
  until: now + ttl,
  text,
});

const attemptsIn = (record: KeyRecord | undefined, now: number): number =>
  record && now < record.counts ? record.attempts : 0;

/** Gives the mark of the hold at the head of the queue, or none: the mark in the record may be of an earlier hold, which failed or died. */
export const markBehind = (record: KeyRecord | undefined, first: bigint | undefined, now: number): string =>
  record && record.begun === first && now < record.counts ? record.mark : NO_RECORD.mark;

export function valueRecordOf(record: KeyRecord | undefined, now: number): ValueRecord {
  const value = storedValueIn(record, now);
  const { begun, mark } = record && now < record.counts ? record : NO_RECORD;
  return { ...(value && { value }), attempts: attemptsIn(record, now), mark, begun };
}

/** Makes one record of two, for an engine that stores the value and the attempts apart, each as a record. */
export const recordOf = (value = NO_RECORD, { attempts, begun, mark, counts } = NO_RECORD): KeyRecord => ({
  ...value,
  ...{ attempts, begun, mark, counts },
});

/** Gives the time when the value and the attempts are both over. */
export const overAt = ({ counts, until }: KeyRecord): number => Math.max(counts, until);

/** Writes a record as one text. The value comes last, and may contain anything. */
export const writeRecord = ({ attempts, begun, mark, counts, token, at, until, text }: KeyRecord): string =>
  `1 ${attempts} ${begun} ${mark} ${Math.ceil(counts)} ${token} ${Math.floor(at)} ${Math.ceil(until)} ${text}`;

export const unknownFormat = (): LockError =>
  invalid(
    'what a memo keeps under this key has a format that this version does not know. Use the newest holdfast everywhere, or forget() the key',
  );

/** The part before the value. */
const RECORD = /^1 (\d+) (\d+) (\S+) (\d+) (\d+) (\d+) (\d+) /;

/** @param unit how many time units of the text make one ms @throws LockError `LOCK_INVALID` for a text of another format */
export function readRecord(stored: string, unit = 1): KeyRecord {
  const found = RECORD.exec(stored);
  if (!found) throw unknownFormat();
  // Read by index, not as a list: an iteration over the match would take as long as all the rest of this function.
  const { 0: head, 1: attempts, 2: begun, 3: mark, 4: counts, 5: token, 6: at, 7: until } = found;
  return {
    attempts: Number(attempts),
    begun: BigInt(begun!),
    mark: mark!,
    counts: Number(counts) / unit,
    token: BigInt(token!),
    at: Number(at) / unit,
    until: Number(until) / unit,
    text: stored.slice(head.length),
  };
}
