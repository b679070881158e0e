import { isExclusive, type Seats } from '../contract/admission.ts';
import type { Claim } from '../contract/backend.ts';
import { type Circumstances, type Enclosing, labelFor, type ProcessName } from '../contract/origin.ts';
import type { Terms } from '../contract/terms.ts';
import { CALL_TIMEOUT, type Engine } from '../engine/engine.ts';

/** A claim, and what its label says of it. */
export interface NumberedClaim extends Claim {
  /** The number of the claim in this process. */
  readonly number: number;
  readonly inside: readonly Enclosing[];
  readonly detects?: number | undefined;
}

/** The wish of a caller: seats of a key, on its terms. */
export interface SeatRequest {
  readonly key: string;
  readonly seats: Seats;
  readonly terms: Terms;
  /** The words of the label beside the number of the claim; undefined if there are none. */
  readonly circumstances: Circumstances | undefined;
}

const NOTHING: readonly never[] = [];

/** The claim for a request. Its id is new each time: an id that was given back is never used again. */
export function claimFor(
  { key, seats, terms, circumstances }: SeatRequest,
  engine: Engine,
  name: ProcessName,
): NumberedClaim {
  const { backend, clock } = engine;
  const { lengths } = terms;
  const id = clock.id();
  const number = name.next();
  const queue = terms.wait > 0 && backend.traits.fair;
  return {
    key,
    id,
    take: seats.take,
    of: seats.of,
    readWrite: seats.readWrite,
    ttl: queue ? lengths.waiter : lengths.hold,
    queue,
    placeTtl: queue ? lengths.place : undefined,
    span: isExclusive(seats) ? terms.handOff.max + 1 : 1,
    within: Math.min(CALL_TIMEOUT, Math.max(lengths.lease / 2, 100)),
    answered: terms.inquiry?.answerable(clock.now()),
    lingers: terms.minHold > 0 || terms.delay > 0,
    label: labelFor(terms.label, name.word(id), number, circumstances),
    number,
    inside: circumstances?.inside ?? NOTHING,
    detects: circumstances?.detects,
  };
}
