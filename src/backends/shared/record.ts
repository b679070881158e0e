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

/** The longest value where an engine sets no other limit, bytes: it is no burden for a server, a pool or a client. */
export const MAX_VALUE_BYTES = 65_536;

/** What is stored of a key beside its queue. Times are those of the engine's clock, ms. */
export interface KeyRecord {
  /**
   * The number of holds, of claims that count, begun since a value was last stored; the token and the mark of the last one, and until when
   * they count.
   */
  readonly attempts: number;
  readonly begun: bigint;
  readonly mark: string;
  readonly counts: number;
  /** The value, if one was stored: the token of the hold that did, when its age begins, and until when it counts. */
  readonly token: bigint;
  readonly at: number;
  readonly until: number;
  readonly text: string;
}

const NO_RECORD: KeyRecord = { attempts: 0, begun: 0n, mark: NO_MARK, counts: 0, token: 0n, at: 0, until: 0, text: '' };

/** A value without an age is stored as if it were stored when it is over. The rounding of both times differs by so much, ms. */
const AGE_ROUNDING_MS = 1;

export function leftIn(
  record: Pick<KeyRecord, 'text' | 'token' | 'at' | 'until'> | undefined,
  now: number,
): StoredValue | undefined {
  if (!record || record.until <= now) return undefined;
  const { text, token, at, until } = record;
  return { text, token, age: until - at <= AGE_ROUNDING_MS ? 0 : now - at, validFor: until - now };
}

export function answerIn(record: KeyRecord | undefined, { age }: ValueCondition, now: number): StoredValue | undefined {
  const value = leftIn(record, now);
  return value && isAnswer(value, age) ? value : undefined;
}

/** Gives the record from a grant on. It is the same one if the claim does not count, or if this grant or a later one was counted before. */
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
 * Adds to the answer to an attempt what is known of the holds before, or of this one. It also gives the record to keep, if the attempt
 * changes it.
 * @param first the token of the claim that stands first
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

/** Makes the record with a value, which ends the attempts. */
export const leavingIn = (token: bigint, { text, ttl, ageless = false }: NewValue, now: number): KeyRecord => ({
  ...NO_RECORD,
  token,
  at: ageless ? now + ttl : now,
  until: now + ttl,
  text,
});

const attemptsIn = (record: KeyRecord | undefined, now: number): number =>
  record && now < record.counts ? record.attempts : 0;

/** Gives what a claim sees of the one that stands first: an earlier hold, which failed or died, may have set the mark. */
export const markBehind = (record: KeyRecord | undefined, first: bigint | undefined, now: number): string =>
  record && record.begun === first && now < record.counts ? record.mark : NO_RECORD.mark;

export function rememberedIn(record: KeyRecord | undefined, now: number): ValueRecord {
  const value = leftIn(record, now);
  const { begun, mark } = record && now < record.counts ? record : NO_RECORD;
  return { ...(value && { value }), attempts: attemptsIn(record, now), mark, begun };
}

/** The record of a key where an engine stores the value and the attempts apart, each in the form of a record. */
export const recordOf = (value = NO_RECORD, { attempts, begun, mark, counts } = NO_RECORD): KeyRecord => ({
  ...value,
  ...{ attempts, begun, mark, counts },
});

/** Gives the time from which on nothing of the record counts. */
export const overAt = ({ counts, until }: KeyRecord): number => Math.max(counts, until);

/** Writes a record as text, for engines that store it so. The value is last, and may contain anything. */
export const writeRecord = ({ attempts, begun, mark, counts, token, at, until, text }: KeyRecord): string =>
  `1 ${attempts} ${begun} ${mark} ${Math.ceil(counts)} ${token} ${Math.floor(at)} ${Math.ceil(until)} ${text}`;

export const unknownFormat = (): LockError =>
  invalid(
    'what a memo keeps under this key has a format that this version does not know. Use the newest holdfast everywhere, or forget() the key',
  );

/** The part before the value. */
const RECORD = /^1 (\d+) (\d+) (\S+) (\d+) (\d+) (\d+) (\d+) /;

/** @param unit the number of its time units in a ms @throws LockError `LOCK_INVALID` for a text of another format */
export function readRecord(stored: string, unit = 1): KeyRecord {
  const found = RECORD.exec(stored);
  if (!found) throw unknownFormat();
  // The match is not taken apart as a list: to iterate over it takes as long as all the rest here.
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
