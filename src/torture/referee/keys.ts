import { setTimeout as sleep } from 'node:timers/promises';
import { isLockError, PLACE_TTL_MS } from '../../core/index.ts';
import type { Locks, QueueEntry } from '../../index.ts';

/** Time between two looks at what is left, ms. */
const LOOK = 250;
/** How much longer than its lease a hold may last, if it was not renewed yet, or the engine has to sweep; ms. */
const MORE = 5_000;

/** The first lock under the prefix of these locks; undefined also if the engine cannot list. */
export async function firstStanding(locks: Locks, prefix = ''): Promise<QueueEntry | undefined> {
  try {
    for await (const standing of locks.inspect(prefix)) return standing;
  } catch (error) {
    if (!isLockError(error, 'LOCK_UNSUPPORTED')) throw error;
  }
  return undefined;
}

/**
 * After the end of all processes: waits until their leases and places are over, and then releases what is still there.
 * @returns the holds that outlasted their leases
 */
export async function clearKeys(locks: Locks, prefix: string, ttl: number): Promise<QueueEntry[]> {
  const until = performance.now() + Math.max(ttl * 1.5, PLACE_TTL_MS) + MORE;
  let left = await firstStanding(locks, prefix);
  while (left && performance.now() < until) {
    await sleep(LOOK);
    left = await firstStanding(locks, prefix);
  }
  const stayed: QueueEntry[] = [];
  if (left) for await (const standing of locks.inspect(prefix)) if (standing.held) stayed.push(standing);
  for (const key of new Set(stayed.map((standing) => standing.key)))
    await locks.forceRelease(key, { reason: 'left behind by holdfast torture' });
  return stayed;
}
