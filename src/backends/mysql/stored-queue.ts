import { type Claim, type Grant, leastOf, PLACE_TTL_MS, type Refusal, Tally } from '../../core/index.ts';
import type { StoredClaim } from '../shared/stored-queue.ts';

/** The number of the server's time units in a ms. */
export const MICRO = 1_000;

/** How a claim begins. No other part of a queue has an `@`, so a claim can be found in the text. */
export const mark = (id: string): string => `@${encodeURIComponent(id)} `;

/** The parts of a claim that this process knows. The statement adds those that only the server knows. */
export function partsOf(claim: Claim, process: string): { mark: string; ttl: string; units: string; tail: string } {
  const ttl = `${Math.round(claim.ttl * MICRO)}`;
  return {
    mark: mark(claim.id),
    ttl,
    units: ` ${claim.units} ${claim.capacity} ${ttl} `,
    tail: ` ${process} ${encodeURIComponent(claim.label.toWellFormed())};`,
  };
}

/** A queue as it was read. */
export interface QueueText {
  readonly text: string;
  /** The server's time then, ms. */
  readonly now: number;
}

interface TextClaim extends StoredClaim {
  readonly joined: number;
  expires: number;
  /** The address of its process; `-` if it has none. */
  readonly process: string;
  /** The text that is stored. */
  readonly text: string;
}

/** The claims of a queue that have not expired. */
export interface LiveQueue extends QueueText {
  readonly claims: readonly TextClaim[];
  /** How many of them hold; they are the first ones. */
  readonly held: number;
  /** Whether any claim was left out. */
  readonly expired: boolean;
}

/** A waiting claim may expire earlier than a hold, since its process asks again and again. */
export function liveQueue({ text, now }: QueueText): LiveQueue {
  const stored = text.split(';').slice(0, -1);
  const tally = new Tally();
  const claims: TextClaim[] = [];
  let held = 0;
  for (const claim of stored.map(parse)) {
    claim.held = held === claims.length && tally.fits(claim);
    if (!claim.held) claim.expires -= Math.max(0, claim.ttl - PLACE_TTL_MS);
    if (claim.expires <= now) continue;
    claims.push(claim);
    if (!claim.held) continue;
    tally.add(claim);
    held++;
  }
  const rest = claims.map((claim) => claim.text).join('');
  return { claims, held, now, text: rest, expired: claims.length < stored.length };
}

function parse(text: string): TextClaim {
  const [id, expires, token, units, capacity, ttl, joined, process, label] = text.slice(1).split(' ');
  return {
    id: decodeURIComponent(id!),
    label: decodeURIComponent(label!),
    units: Number(units),
    capacity: Number(capacity),
    token: BigInt(token!),
    held: false,
    ttl: Number(ttl) / MICRO,
    joined: Number(joined) / MICRO,
    expires: Number(expires) / MICRO,
    process: process!,
    text: `${text};`,
  };
}

/** What a queue says of a claim. `first`: the token of the claim that stands first. */
export type QueueAttempt = Grant | (Refusal & { readonly first?: bigint });

export const grantOf = (token: bigint, { ttl }: Pick<Claim, 'ttl'>): Grant => ({ granted: true, token, validFor: ttl });

export function refusal({ claims, now }: LiveQueue, ahead: number): QueueAttempt {
  const retryAfter = leastOf(claims.slice(0, ahead).map(({ expires }) => expires)) - now;
  return { granted: false, ahead, retryAfter, first: claims[0]?.token };
}
