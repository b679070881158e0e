import type { Duration, Locks, Semaphore } from '../../src/index.ts';

export interface Rate {
  /** So many calls … */
  readonly calls: number;
  /** … in any stretch of time that is so long, ms. */
  readonly window: number;
}

/** Of the window: how long a call may take from its grant to being sent. Longer, and its permit is thrown away for another. */
const MARGIN = 0.15;

/** A permit for each call, which stays taken for a window and a little, also when its process dies. */
export function rateLimit(locks: Locks, name: string, { calls, window }: Rate) {
  const stays = window * (1 + MARGIN);
  const permits = locks.semaphore(name, { permits: calls, ttl: stays, minHold: stays, renew: false });
  return <T>(call: () => Promise<T> | T, wait: Duration): Promise<T> => limited(permits, window, call, wait);
}

async function limited<T>(permits: Semaphore, window: number, call: () => T, wait: Duration): Promise<Awaited<T>> {
  for (;;) {
    const permit = await permits.acquire({ wait });
    const inTime = permit.remaining >= window; // else this process stood still, and the window could end before the call is old
    void permit.release(); // gives it back when minHold is over; never throws
    if (inTime) return await call();
  }
}
