import { sameForEngine } from '../contract/option-table.ts';
import type { AcquireRequest } from './acquire-request.ts';
import type { Hold } from './hold.ts';
import type { NumberedClaim } from './sent-claim.ts';

/** Whether one request may take over what was meant for the other: the engine would not see a difference. */
export function interchangeable({ seats, terms }: AcquireRequest, other: AcquireRequest): boolean {
  return (
    seats.units === other.seats.units &&
    seats.capacity === other.seats.capacity &&
    seats.readWrite === other.seats.readWrite &&
    !terms.inquiry &&
    !other.terms.inquiry &&
    sameForEngine(terms, other.terms)
  );
}

/** Whether a request may take over the place of a claim in the engine's line: what the label of the claim says has to be true of it. */
export function mayInherit({ inside, detects }: NumberedClaim, next: AcquireRequest): boolean {
  const own = next.circumstances();
  if ((own?.detects === undefined) !== (detects === undefined)) return false;
  return (own?.inside.length ?? 0) === inside.length && inside.every(({ claim }, i) => claim === own!.inside[i]!.claim);
}

/** Whether a hold may pass on to the next request: an equal one, while neither the tenure nor too much of the lease is used up. */
export function mayPass(hold: Hold<AcquireRequest>, next: AcquireRequest, now: number): boolean {
  const { owner, terms, tenure, timing } = hold;
  if (!owner || !interchangeable(next, owner) || !hold.exclusive) return false;
  if (hold.waitsInside > 0) return false; // work that its function left running would be inside the hold of the next function
  if (hold.life.loss || terms.minHold > 0) return false;
  if (timing.ttl !== next.terms.lengths.hold || !hold.settled) return false; // it was extended, or may have been
  if (tenure.passes + 1 >= hold.tokenCount) return false; // the tokens that the first holder asked for are used up
  if (tenure.passes >= terms.handOff.max || next.terms.handOff.max <= tenure.passes) return false;
  return now - tenure.since < terms.handOff.within && timing.lastsFor(next.terms, now);
}

/**
 * Gives the time for which a hold is kept for the next caller of this process, ms: its linger, within its tenure, if an equal request could
 * have it. 0 where others are known to want the key.
 */
export function lingerOf(hold: Hold<AcquireRequest>, now: number): number {
  const { owner, terms, tenure } = hold;
  const { linger, within } = terms.handOff;
  if (tenure.contended || !owner || !mayPass(hold, owner, now)) return 0;
  return Math.min(linger, tenure.since + within - now);
}
