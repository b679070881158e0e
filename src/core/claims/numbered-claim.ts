import { isExclusive, type Seats } from '../contract/admission.ts';
import { type Claim, PLACE_TTL, type Traits } from '../contract/backend.ts';
import { type Circumstances, type Enclosing, labelFor, type ProcessName } from '../contract/origin.ts';
import { engineTtl, leaseLength, placeTtlOf, type Terms } from '../contract/terms.ts';
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
    answered: terms.inquiry?.answerable(clock.now()),
    lingers: terms.minHold > 0 || terms.delay > 0,
    label: labelFor(terms.label, name.word(id), number, circumstances),
    number,
    inside: circumstances?.inside ?? NOTHING,
    detects: circumstances?.detects,
  };
}

/**
 * The time within which a place in line needs a sign of life, ms: a third of the time after which it may lapse. It is also the safety net beside every watch: a
 * waiter asks at least this often.
 */
export const signOfLife = (claim: Pick<Claim, 'ttl' | 'placeTtl'>): number => placeTtlOf(claim) / 3;

/** The life of its place that a waiter asks for, if it would rather cost the engine little: it asks every `spin.bound`, where the engine allows that. */
export function placeTtlFor({ spin }: Terms, { placeTtl = PLACE_TTL }: Traits): number | undefined {
  const wanted = Math.min(3 * spin.bound, placeTtl);
  return wanted > PLACE_TTL ? wanted : undefined;
}

/**
 * How much longer than its lease the claim of a waiter has to last, ms. The lease counts from the last sign of life that was answered,
 * since the waiter cannot know when the engine admitted it after that. So much of it may be over when the waiter hears of its grant: a
 * pause, a late timer, the way of the next sign of life, and the difference of the clocks.
 */
export const waiterMargin = (claim: Pick<Claim, 'ttl' | 'placeTtl'>): number =>
  Math.ceil(1.25 * signOfLife(claim)) + 25;
