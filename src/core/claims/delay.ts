import { type Duration, milliseconds } from '../contract/duration.ts';
import { LockError, shown } from '../contract/errors.ts';
import type { ResolvedOptions } from '../contract/options.ts';
import type { Traits } from '../contract/traits.ts';
import type { HoldTiming } from '../holds/hold-timing.ts';

/** Longest `delay`, ms. */
const LONGEST_DELAY = 60_000;

/**
 * How long the key stays taken after a hold that lapsed, ms: the engine is asked for so much more than the holder believes in. Where a
 * session carries the hold, so much is taken off what the session is good for, half of it at most.
 * @throws LockError `LOCK_INVALID`; `LOCK_UNSUPPORTED` where a hold ends with the connection of its process
 */
export function delayOf(given: Duration, { keptBy, outlives = 0, ttl }: Traits): number {
  const leased = keptBy === 'lease';
  const max = Math.min(LONGEST_DELAY, leased || outlives === 0 ? ttl.max - ttl.min : Math.floor(outlives / 2));
  const delay = milliseconds(given, 'delay', { min: 0, max });
  if (delay === 0 || leased || outlives > 0) return delay;
  const why = `delay is ${shown(given)}, and a lock of this engine is free as soon as the connection of its holder ends: use an engine with leases, or leave delay out`;
  throw new LockError('LOCK_UNSUPPORTED', why);
}

/** What the holder counts on of what the engine says, ms: 1 at least, so that what is timed by it does not go round and round. */
export const believed = (validFor: number, { delay }: Pick<ResolvedOptions, 'delay'>): number =>
  delay > 0 ? Math.max(1, validFor - delay) : validFor;

interface Lapsed {
  readonly timing: Pick<HoldTiming, 'deadline'>;
  readonly resolved: Pick<ResolvedOptions, 'delay'>;
}

/** Until when nobody is to be let in after a hold that has lapsed. */
export const closedUntil = ({ timing, resolved: { delay } }: Lapsed): number =>
  delay > 0 ? timing.deadline + delay : 0;
