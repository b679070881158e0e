import { milliseconds, said } from '../core/contract/duration.ts';
import { time } from './child/timing.ts';
import { UsageError } from './exit.ts';

/** When that tick is due, ms since 1970. NaN for text that is no time, which `once` refuses. */
export const dueAt = (tick: number | string): number => (typeof tick === 'number' ? tick : Date.parse(tick));

const DAY = 86_400_000;

/**
 * The tick that `--tick` means now: the time itself, or the last multiple of a period since 1970, in UTC. A machine that is
 * early by no more than `skew` means the tick that is about to come.
 * @throws UsageError for a period that is too short for the skew; LockError `LOCK_INVALID`
 */
export function tickAt(text: string, skew: number, now: number): number | string {
  if (/^\d{4}-/.test(text)) return text;
  const period = milliseconds(time(text, '--tick'), '--tick', { min: 1_000, max: DAY });
  if (period < 2 * skew)
    throw new UsageError(`--tick is ${text}; it must be at least ${said(2 * skew)}, which is twice --skew`);
  return Math.floor((now + skew) / period) * period;
}
