import type { Locks } from '../../src/index.ts';

/** Called by the timer of every instance, at about the same time; one of them runs the job. Whether it was this one. */
export async function onTick(locks: Locks, job: (signal: AbortSignal) => Promise<void>): Promise<boolean> {
  const lease = await locks.mutex('job:nightly-report', { minHold: '30s' }).tryAcquire();
  if (!lease) return false;
  await using _ = lease;
  await job(lease.signal);
  return true;
}
