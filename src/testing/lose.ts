import { invalid } from '../core/errors.ts';
import { type AnyLease, HeldLease } from '../core/lease.ts';

/**
 * Loses a lease now, as if the engine had taken it away: its signal is aborted, `held` is false, and others may have the lock.
 * Of a lease of several keys the first is lost. For tests of code that has to cope with it.
 * @throws LockError `LOCK_INVALID` for what is not a lease of holdfast's
 * @example
 * await locks.mutex('order:42').run(async (lease) => {
 *   lose(lease);
 *   console.log(lease.held, lease.signal.aborted); // false, true
 * });
 */
export function lose(lease: AnyLease): void {
  const [part = lease] = (lease as { parts?: readonly AnyLease[] }).parts ?? [];
  if (!(part instanceof HeldLease)) throw invalid('lose() takes a lease, as acquire() and run() give it');
  part.hold.end('a test took it away');
}
