import {
  type Attempt,
  type Claim,
  leastOf,
  NO_MARK,
  type QueueEntry,
  type Units,
  type ValueRecord,
} from '../../core/index.ts';
import { verdictOn } from '../shared/line-verdict.ts';
import { answerIn, type KeyRecord, markBehind, rememberedIn } from '../shared/record.ts';
import { entriesOf } from '../shared/stored-queue.ts';

export const FORM = 1;
/** The mark in front keeps a key from being empty, or an operator. */
export const idOf = (key: string): string => `=${key}`;
export const keyOf = (id: string): string => id.slice(1);

/** A 64-bit number of the driver. By the client's settings it is a number, a bigint or a class of the driver. */
interface Long {
  toString(): string;
}

export interface QueueDocument {
  readonly _id: string;
  readonly v: number;
  readonly queue: readonly ClaimDocument[];
  /** Whether the last release found its claim. */
  readonly freed?: boolean;
  /** The server's time at the last change. */
  readonly now: Date;
  readonly value?: ValueDocument | null;
  readonly attempts?: AttemptsDocument | null;
}

interface ClaimDocument extends Units {
  readonly id: string;
  readonly token: Long;
  readonly label: string;
  readonly joined: Date;
  readonly expires: Date;
}

/** What a memo keeps under the key. */
interface ValueDocument {
  readonly text: string;
  readonly token: Long;
  /** Its age begins here. */
  readonly at: Date;
  readonly until: Date;
}

/** The holds that stored no value. */
interface AttemptsDocument {
  readonly count: number;
  /** The token of the last of them. */
  readonly begun: Long;
  readonly mark: string;
  readonly counts: Date;
}

const tokenOf = (token: Long | undefined): bigint => BigInt(token?.toString() ?? 0);

/** What a queue means for a claim that must not join it after `notAfter`. */
export function placeOf({ id, ttl }: Claim, { queue, now }: QueueDocument, notAfter?: Date): Attempt {
  const index = queue.findIndex((claim) => claim.id === id);
  if (index < 0 && notAfter && now > notAfter) return { granted: false, late: true };
  if (index >= 0 && verdictOn(queue, index).admitted) {
    return { granted: true, token: tokenOf(queue[index]!.token), validFor: ttl };
  }
  const ahead = index < 0 ? queue : queue.slice(0, index);
  const retryAfter = leastOf(ahead.map(({ expires }) => expires.getTime())) - now.getTime();
  return { granted: false, ahead: ahead.length, retryAfter };
}

export function answerTo(claim: Claim, document: QueueDocument, notAfter?: Date): Attempt {
  const attempt = placeOf(claim, document, notAfter);
  const { accepts } = claim;
  if (!accepts || (!attempt.granted && attempt.late)) return attempt;
  const now = document.now.getTime();
  const record = recordOf(document);
  const value = notAfter && document.now > notAfter ? undefined : answerIn(record, accepts, now);
  if (value) return { granted: false, value };
  if (!attempt.granted) return { ...attempt, mark: markBehind(record, tokenOf(document.queue[0]?.token), now) };
  return accepts.counts > 0 ? { ...attempt, attempts: record.attempts } : attempt;
}

export const lookIn = (document: QueueDocument): ValueRecord =>
  rememberedIn(recordOf(document), document.now.getTime());

/** The claims that have not expired when the document was read. */
export function listingOf({ _id, queue, now }: QueueDocument): QueueEntry[] {
  const alive = queue.filter(({ expires }) => expires > now);
  const claims = alive.map(({ token, joined, expires, ...claim }) => ({
    ...{ ...claim, token: tokenOf(token) },
    ...{ since: now.getTime() - joined.getTime(), remaining: expires.getTime() - now.getTime() },
  }));
  return entriesOf(keyOf(_id), claims);
}

/** Tells of each document whether it has a value that none before it had. */
export function newsOfValues(): (document: QueueDocument) => boolean {
  let last: string | undefined;
  return ({ value }) => {
    const before = last;
    last = value?.token.toString();
    return last !== undefined && last !== before;
  };
}

function recordOf({ value, attempts }: QueueDocument): KeyRecord {
  return {
    attempts: attempts?.count ?? 0,
    begun: tokenOf(attempts?.begun),
    mark: attempts?.mark ?? NO_MARK,
    counts: attempts?.counts.getTime() ?? 0,
    token: tokenOf(value?.token),
    at: value?.at.getTime() ?? 0,
    until: value?.until.getTime() ?? 0,
    text: value?.text ?? '',
  };
}
