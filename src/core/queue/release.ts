import type { Demand } from '../contract/admission.ts';
import { sameForEngine } from '../contract/option-table.ts';
import { labelParts } from '../contract/origin.ts';
import type { Terms } from '../contract/terms.ts';
import type { LocalClaim } from './claim-step.ts';
import type { Hold } from './hold.ts';
import { deadlineOf, type HoldTiming, usableTime } from './hold-timing.ts';
import type { AcquireRequest } from './request.ts';

/** The demand and the terms of a request. */
interface Wish {
  readonly demand: Demand;
  readonly terms: Terms;
}

/** Whether one request may take over the claim or hold of the other, since the engine would see no difference. */
export function interchangeable({ demand, terms }: Wish, other: Wish): boolean {
  return (
    demand.units === other.demand.units &&
    demand.capacity === other.demand.capacity &&
    demand.readWrite === other.demand.readWrite &&
    !terms.inquiry &&
    !other.terms.inquiry &&
    sameForEngine(terms, other.terms)
  );
}

/**
 * Whether a request may take over a claim in the engine's queue: the origin in the claim has to be true of the request, too, and so has its label if
 * the hold is an `UNSHARED_HOLD`.
 */
export function mayInherit({ label, origin }: LocalClaim, next: AcquireRequest): boolean {
  const { inside, detects } = origin;
  const { terms } = next;
  if (!terms.reentrant && terms.handOff.max === 0 && terms.label !== labelParts(label).label) return false;
  const own = next.circumstances();
  if ((own?.detects === undefined) !== (detects === undefined)) return false;
  return (own?.inside.length ?? 0) === inside.length && inside.every(({ claim }, i) => claim === own!.inside[i]!.claim);
}

/** Whether a hold may pass to the next request: the requests are interchangeable, the tenure is not used up, and enough of the lease is left. */
export function mayPass(hold: Hold, next: Wish, now: number): boolean {
  const { owner, terms, tenure, timing } = hold;
  if (!interchangeable(next, owner) || !hold.exclusive) return false;
  if (hold.isWaitedInside) return false; // otherwise work that its function did not await would be inside the hold of the next function
  if (hold.loss || hold.lost?.aborted || terms.minHold > 0) return false;
  if (timing.ttl !== next.terms.lengths.hold || !hold.settled) return false; // the hold was extended, or a renewal may be on its way
  if (tenure.passes + 1 >= hold.tokenCount) return false; // the tokens that the first holder asked for are used up
  if (tenure.passes >= terms.handOff.max || next.terms.handOff.max <= tenure.passes) return false;
  return now - tenure.since < terms.handOff.within && lastsFor(timing, next.terms, now);
}

/**
 * Whether a hold lasts long enough for the next caller: for half of the time until its notice, in which it is renewed. A caller that does not renew
 * gets the whole lease that it asked for.
 */
export function lastsFor({ deadline, confirmation }: HoldTiming, next: Terms, now: number): boolean {
  const { lease, hold } = next.lengths;
  if (next.renew) return deadline - now >= (lease + next.notice) / 2;
  const { sent, validFor } = confirmation;
  return deadlineOf(sent, usableTime(validFor, hold, next)) >= deadlineOf(now, lease);
}

/**
 * Gives the time for which a hold is kept for the next caller of this process, ms: its `linger`, but not past `handOff.within`. 0 if another process
 * is known to want the key, or a request with the same options could not take the hold.
 */
export function lingerOf(hold: Hold, now: number): number {
  const { owner, terms, tenure } = hold;
  if (tenure.contended || !mayPass(hold, owner, now)) return 0;
  return Math.min(terms.handOff.linger, tenure.since + terms.handOff.within - now);
}

/**
 * What becomes of a hold that its holder gives up. `pass`: the next caller here has it. `linger`: it is kept for a caller that may come.
 * `wait a turn`: a caller that asks again at once can have it. `keep`: its key stays taken for `minHold`. `give back`: the engine gets it.
 */
export type ReleaseAct = 'pass' | 'linger' | 'wait a turn' | 'keep' | 'give back';

/**
 * Decides what becomes of a hold that its holder gives up.
 * @param next the caller that waits here, and would get the hold
 * @param isWaitedFor whether any caller of this process waits, here or in the engine's queue
 * @param isLast whether the hold has lingered, or waited a turn
 */
export function releaseActOf(
  hold: Hold,
  next: Wish | undefined,
  isWaitedFor: boolean,
  isLast: boolean,
  now: number,
): ReleaseAct {
  if (next && mayPass(hold, next, now)) return 'pass';
  if (!isLast && !isWaitedFor && hold.terms.handOff.linger > 0 && lingerOf(hold, now) > 0) return 'linger';
  if (hold.timing.keptUntil > now) return 'keep';
  return isLast || hold.terms.awaitRelease ? 'give back' : 'wait a turn';
}
