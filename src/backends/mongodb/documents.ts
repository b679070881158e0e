import { type Attempt, type Claim, type Demand, NO_MARK } from '../../core/index.ts';
import { EngineQueue, TOO_LATE } from '../shared/queue.ts';
import type { KeyRecord } from '../shared/record.ts';
import { byRule, EngineTime, TokenCounter } from '../shared/stored-queue.ts';

export const FORM = 1;
/** With `=` in front, no id is empty, or looks like an operator of MongoDB. */
export const idOf = (key: string): string => `=${key}`;
export const keyOf = (id: string): string => id.slice(1);

/** A 64-bit number. The settings of the client decide whether the driver gives a number, a bigint or a class of its own. */
interface Long {
  toString(): string;
}

export interface QueueRecord {
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

interface ClaimDocument extends Demand {
  readonly id: string;
  readonly token: Long;
  readonly label: string;
  readonly joined: Date;
  readonly expires: Date;
}

/** The value of a memo. */
interface ValueDocument {
  readonly text: string;
  readonly token: Long;
  /** The age of the value counts from this time. */
  readonly at: Date;
  readonly until: Date;
}

/** The holds that stored no value. */
interface AttemptsDocument {
  readonly count: number;
  /** The token of the last of these holds. */
  readonly begun: Long;
  readonly mark: string;
  readonly counts: Date;
}

const tokenOf = (token: Long | undefined): bigint => BigInt(token?.toString() ?? 0);

/**
 * The answer to an attempt, read from the document as the attempt left it.
 * @param notAfter the attempt was too late to join, or to take a value, if the time of the document is later
 */
export function answerTo(claim: Claim, document: QueueRecord, notAfter?: Date): Attempt {
  const isLate = notAfter !== undefined && document.now > notAfter;
  const queue = queueOf(isLate ? { ...document, value: null } : document);
  if (isLate && !queue.find(claim.id)) return TOO_LATE;
  const attempt = queue.attempt({ ...claim, minToken: 0n });
  return queue.joined ? TOO_LATE : attempt; // the claim joined only here: the server did not store it
}

/** The queue at the time of the document. */
export function queueOf({ queue, now, value, attempts }: QueueRecord): EngineQueue {
  const alive = queue.filter(({ expires }) => expires > now);
  const claims = alive.map(({ token, joined, expires, ...claim }) => ({
    ...{ ...claim, token: tokenOf(token), held: false, ttl: 0 },
    ...{ joined: joined.getTime(), expires: expires.getTime() },
  }));
  const record: KeyRecord = {
    attempts: attempts?.count ?? 0,
    begun: tokenOf(attempts?.begun),
    mark: attempts?.mark ?? NO_MARK,
    counts: attempts?.counts.getTime() ?? 0,
    token: tokenOf(value?.token),
    at: value?.at.getTime() ?? 0,
    until: value?.until.getTime() ?? 0,
    text: value?.text ?? '',
  };
  return new EngineQueue(new TokenCounter(0n), byRule(claims), record).at(new EngineTime(now.getTime()));
}

/** @returns a function that says of each document whether it has a value, and another one than the document before it */
export function newsOfValues(): (document: QueueRecord) => boolean {
  let last: string | undefined;
  return ({ value }) => {
    const before = last;
    last = value?.token.toString();
    return last !== undefined && last !== before;
  };
}
