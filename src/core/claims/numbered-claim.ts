import { isExclusive, type Seats } from '../contract/admission.ts';
import type { Claim } from '../contract/backend.ts';
import { type Circumstances, type Enclosing, labelled } from '../contract/origin.ts';
import type { ProcessName } from '../contract/process-name.ts';
import { engineTtl, leaseLength, type Terms } from '../contract/terms.ts';
import { CALL_TIMEOUT, type Engine } from '../engine/engine.ts';
import { placeTtlFor, waiterMargin } from './pause.ts';

/** A claim, and what its label says of it. */
export interface NumberedClaim extends Claim {
  /** Its number in this process. */
  readonly number: number;
  readonly inside: readonly Enclosing[];
  readonly detects?: number | undefined;
}

/** What a caller asks for: seats of a key, on its terms. */
export interface SeatRequest {
  readonly key: string;
  readonly seats: Seats;
  readonly terms: Terms;
  /** Undefined: the claim has nothing to say beside its number. */
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
  const { traits } = backend;
  const id = clock.id();
  const number = name.next();
  const ttl = engineTtl(terms);
  const queue = terms.wait > 0 && traits.fair;
  const placeTtl = queue ? placeTtlFor(terms, traits) : undefined;
  const woken = queue && traits.keptBy === 'lease' && traits.wakes !== 'never';
  return {
    key,
    id,
    take: seats.take,
    of: seats.of,
    readWrite: seats.readWrite,
    ttl: woken ? Math.min(ttl + waiterMargin({ ttl, placeTtl }), traits.ttl.max) : ttl,
    queue,
    placeTtl,
    span: isExclusive(seats) ? terms.handOff.max + 1 : 1,
    within: Math.min(CALL_TIMEOUT, Math.max(leaseLength(terms) / 2, 100)),
    lingers: terms.minHold > 0 || terms.delay > 0,
    label: labelled(terms.label, name.word(id), number, circumstances),
    number,
    inside: circumstances?.inside ?? NOTHING,
    detects: circumstances?.detects,
  };
}
