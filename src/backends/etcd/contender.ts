import type { Grant } from '../../core/backend.ts';
import type { Lease } from './leases.ts';
import type { Line } from './line.ts';
import type { Blocked } from './waiting.ts';

/** A claim of this process that stands in line, or is about to. */
export interface Contender {
  readonly line: Buffer;
  readonly name: Buffer;
  lease: Lease;
  /** A move to another lease had no answer: the key may be under that one. */
  adrift: boolean;
  /** Its create revision, once known. */
  ticket?: bigint;
  /** When the youngest answered attempt was sent: what the deadline of a grant counts from. */
  sent: number;
  /** It was refused, so somebody may be watching it. */
  waited: boolean;
  /** What stood in its way when the line was last listed; none of one that was admitted. */
  obstacle?: Blocked;
  /** It was given up; an answer that is still to come changes nothing any more. */
  over: boolean;
}

/** Where it stands in the line; below 0 when it does not. */
export const indexOf = ({ places }: Line, { name, ticket }: Contender): number =>
  places.findIndex((place) => place.name.equals(name) && (ticket === undefined || place.ticket === ticket));

/** Whether the key is known to be under a lease of so many seconds. */
export const isUnderLeaseOf = ({ lease, adrift }: Contender, seconds: number): boolean =>
  !adrift && lease.seconds === seconds;

/** Who hears for a claim. It outlasts the contender: a claim that lost its place takes another. */
export interface Waiter {
  readonly wake: (grant?: Grant) => void;
  /** There while something is watched for it; resolves with what ends that. */
  watching?: Promise<() => void>;
}

export function stopWatching(waiter: Waiter | undefined): void {
  const watching = waiter?.watching;
  if (waiter) waiter.watching = undefined;
  watching?.then((stop) => stop()).catch(() => undefined);
}

/** etcd counts in whole seconds. */
export const secondsOf = (ttl: number): number => Math.ceil(ttl / 1_000);
