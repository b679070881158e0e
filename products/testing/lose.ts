import { type AnyLease, heldLease } from '../../src/core/index.ts';

/**
 * Ends a lease as if the engine had taken the lock away: its signal is aborted, `held` is false, and others can get the lock.
 * A lease of several keys loses the first. Use it to test how your code handles a loss.
 * @throws LockError `LOCK_INVALID` if `lease` is no lease of holdfast
 * @example
 * await locks.mutex('order:42').run(async (lease) => {
 *   lose(lease);
 *   console.log(lease.held, lease.signal.aborted); // false, true
 * });
 */
export function lose(lease: AnyLease): void {
  const [part = lease] = (lease as { parts?: readonly AnyLease[] }).parts ?? [];
  heldLease(part).hold.end('a test took it away');
}
