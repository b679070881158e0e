import type { Locks } from '../../src/index.ts';

/** What is used of `redlock`. */
export interface OldLock {
  using<T>(keys: string[], ttl: number, work: (signal: AbortSignal) => Promise<T>): Promise<T>;
}

/** While code with `redlock` still runs: the old lock first, always in this order, then ours. */
export function both<T>(
  redlock: OldLock,
  locks: Locks,
  key: string,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return redlock.using([key], 30_000, (old) =>
    locks.mutex(key).run((lease) => work(AbortSignal.any([old, lease.signal])), { wait: '30s' }),
  );
}
