import type { Duration } from '../../core/duration.ts';
import { milliseconds } from '../../core/duration.ts';
import { UsageError } from '../exit.ts';

/** When to ask a command to end, and when to kill it, so that it ends before the lease. All in ms. */
export interface Timing {
  readonly ttl: number;
  /** How long before the deadline a holder learns of a loss. */
  readonly notice: number;
  /** From the request to end until the kill. */
  readonly grace: number;
  /** How long before the deadline the kill comes at the latest. */
  readonly spare: number;
}

/** The most, and the part of the ttl: the kernel and a busy machine need this time. */
const SPARE = 125;
const SPARE_PART = 1 / 40;
const GRACE = 5_000;

/** @throws UsageError for a grace that leaves no time to renew; LockError `LOCK_INVALID` */
export function timing(ttlText: string, graceText: string | undefined): Timing {
  const ttl = milliseconds(time(ttlText), '--ttl');
  const grace =
    graceText === undefined ? Math.min(GRACE, Math.floor(ttl / 3)) : milliseconds(time(graceText), '--grace');
  const most = Math.floor((ttl * 2) / 3);
  if (grace > most)
    throw new UsageError(`--grace is ${graceText}; it must be at most ${most} ms, which is two thirds of --ttl`);
  const spare = Math.min(SPARE, ttl * SPARE_PART);
  return { ttl, grace, spare, notice: Math.min(grace + 2 * spare, most) };
}

/** A flag is text; its user checks it. A number alone is ms, as in the library. */
export const time = (text: string): Duration => (/^\d+$/.test(text) ? Number(text) : (text as Duration));

/** The same for a flag that may be missing. */
export const timeIfGiven = (text: string | undefined): Duration | undefined =>
  text === undefined ? undefined : time(text);
