import { setTimeout as sleep } from 'node:timers/promises';
import { PLACE_TTL } from '../../core/backend.ts';
import { isLockError } from '../../core/errors.ts';
import type { Locks, Standing } from '../../index.ts';

/** ms between two looks at what is left. */
const LOOK = 250;
/** ms more than its lease that a hold may last which had not been renewed yet, and for a sweep. */
const MORE = 5_000;

/** Somebody's lock under the prefix of these locks, if there is one; undefined where the engine cannot list, too. */
export async function anyones(locks: Locks): Promise<Standing | undefined> {
  return first(locks, '');
}

async function first(locks: Locks, prefix: string): Promise<Standing | undefined> {
  try {
    for await (const standing of locks.inspect(prefix)) return standing;
  } catch (error) {
    if (!isLockError(error, 'LOCK_UNSUPPORTED')) throw error;
  }
  return undefined;
}

/**
 * When all processes are gone: waits until every lease and place of theirs is over, then takes away what is still there.
 * @returns what held longer than its lease
 */
export async function cleared(locks: Locks, prefix: string, ttl: number): Promise<Standing[]> {
  const until = performance.now() + Math.max(ttl * 1.5, PLACE_TTL) + MORE;
  let left = await first(locks, prefix);
  while (left && performance.now() < until) {
    await sleep(LOOK);
    left = await first(locks, prefix);
  }
  const stayed: Standing[] = [];
  if (left) for await (const standing of locks.inspect(prefix)) if (standing.held) stayed.push(standing);
  for (const key of new Set(stayed.map((standing) => standing.key)))
    await locks.forceRelease(key, { reason: 'left behind by holdfast torture' });
  return stayed;
}
