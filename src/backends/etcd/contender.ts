import { admitted } from '../../core/admission.ts';
import type { Lease } from './leases.ts';
import type { Line } from './line.ts';
import { type Blocked, blocked } from './waiting.ts';

/**
 * `joining`: no answer has told where it stands. `waiting`: it was refused, and somebody may be watching it. `over`: it was given
 * up, and no answer that is still to come changes that.
 */
export type ContenderState =
  | { readonly is: 'joining' | 'admitted' | 'over' }
  | { readonly is: 'waiting'; readonly obstacle: Blocked };

/** A claim of this process that stands in line, or is about to. */
export interface Contender {
  readonly line: Buffer;
  readonly name: Buffer;
  state: ContenderState;
  lease: Lease;
  /** `moving`: the answer to a move to another lease is missing, and the key may be under that one. */
  key: 'settled' | 'moving';
  /** Its create revision, once known. */
  ticket?: bigint;
  /** When the youngest answered attempt was sent: what the deadline of a grant counts from. */
  sent: number;
}

/** What the line makes of the contender that is at `index` in it. */
export function stateIn(line: Line, index: number, before: ContenderState, now: number): ContenderState {
  if (before.is === 'over') return before;
  return index < admitted(line.places) ? { is: 'admitted' } : { is: 'waiting', obstacle: blocked(line, index, now) };
}

/** Where it stands in the line; below 0 when it does not. */
export const indexOf = ({ places }: Line, { name, ticket }: Contender): number =>
  places.findIndex((place) => place.name.equals(name) && (ticket === undefined || place.ticket === ticket));

/** Whether the key is known to be under a lease of so many seconds. */
export const isUnderLeaseOf = ({ lease, key }: Contender, seconds: number): boolean =>
  key === 'settled' && lease.seconds === seconds;

/** etcd counts in whole seconds. */
export const secondsOf = (ttl: number): number => Math.ceil(ttl / 1_000);
