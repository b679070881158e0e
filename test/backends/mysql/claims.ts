import { EXCLUSIVE } from '../../../src/core/contract/admission.ts';
import type { Claim } from '../../../src/core/contract/backend.ts';
import { type Clock, systemClock } from '../../../src/core/contract/clock.ts';

/** An exclusive claim as core makes one. */
export const claimOf = (key: string, wish: Partial<Claim> = {}): Claim => ({
  ...EXCLUSIVE,
  key,
  id: systemClock.id(),
  ttl: 30_000,
  queue: true,
  tokenCount: 1,
  within: 5_000,
  label: '',
  ...wish,
});

/** On which all limits are over so many times sooner. */
export const hastened = (times: number): Clock => ({
  ...systemClock,
  now: () => systemClock.now() * times,
  after: (ms, fn, background) => systemClock.after(ms / times, fn, background),
});

export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1]!;
}
