import { DEFAULT_TTL_MS, type Duration, inWords, milliseconds } from '../../../src/core/index.ts';
import { UsageError } from '../exit.ts';

/** When to ask a command to end, and when to kill it, so that it ends before the lease. All in ms. */
export interface Timing {
  readonly ttl: number;
  /** How long before the deadline a holder learns of a loss. */
  readonly notice: number;
  /** How long after the request to end the kill comes. */
  readonly grace: number;
  /** How long before the deadline the kill comes at the latest. */
  readonly spare: number;
}

/** The most for `spare`, and its part of the ttl: the kernel and a busy machine need this time. */
const MAX_SPARE_MS = 125;
const SPARE_PART = 1 / 40;
const GRACE_MS = 5_000;

/** @throws UsageError for a grace that leaves no time to renew; LockError `LOCK_INVALID` */
export function timing(ttlText: string | undefined, graceText: string | undefined): Timing {
  const ttl = ttlText === undefined ? DEFAULT_TTL_MS : milliseconds(time(ttlText, '--ttl'), '--ttl');
  const grace =
    graceText === undefined
      ? Math.min(GRACE_MS, Math.floor(ttl / 3))
      : milliseconds(time(graceText, '--grace'), '--grace');
  const most = Math.floor((ttl * 2) / 3);
  if (grace > most)
    throw new UsageError(`--grace is ${graceText}; it must be at most ${inWords(most)}, which is two thirds of --ttl`);
  const spare = Math.min(MAX_SPARE_MS, ttl * SPARE_PART);
  return { ttl, grace, spare, notice: Math.min(grace + 2 * spare, most) };
}

/**
 * Reads a flag; the caller checks the time. A number alone is ms, as in the library. Below 1,000 it is refused: users of
 * `flock -w 5` mean seconds.
 * @throws UsageError for a number from 1 to 999 without a unit
 */
export function time(text: string, name: string): Duration {
  if (!/^\d+$/.test(text)) return text as Duration;
  const ms = Number(text);
  if (ms > 0 && ms < 1_000)
    throw new UsageError(`${name} is ${text}; write ${text}s for seconds, or ${text}ms for milliseconds`);
  return ms;
}

export const timeIfGiven = (text: string | undefined, name: string): Duration | undefined =>
  text === undefined ? undefined : time(text, name);
