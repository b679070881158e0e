import type { Hold } from '../holds/hold.ts';
import { type AcquireRequest, askedOf } from './acquire-request.ts';

/** Whether a hold may pass on to the next request: an equal one, while neither the tenure nor too much of the lease is used up. */
export function mayPass(hold: Hold, next: AcquireRequest, now: number): boolean {
  const { request, resolved, tenure, timing } = hold;
  if (!request || !next.equals(request) || !hold.exclusive) return false;
  if (hold.waitsInside > 0) return false; // what its function has started and left behind would be inside of the next one's
  if (hold.life.loss || resolved.minHold > 0) return false;
  if (timing.ttl !== askedOf(next.resolved) || !hold.settled) return false; // it was extended, or may have been
  if (hold.tenure.passes + 1 >= hold.span) return false; // of whoever asked the engine for the tickets
  if (tenure.passes >= resolved.handOff.max || next.resolved.handOff.max <= tenure.passes) return false;
  return now - tenure.since < resolved.handOff.within && timing.lastsFor(next.resolved, now);
}
