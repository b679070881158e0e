import { AsyncLocalStorage } from 'node:async_hooks';
import { LockError } from '../core/contract/errors.ts';
import type { AnyLease, Lease } from '../core/holds/lease.ts';

const leases = new AsyncLocalStorage<AnyLease>();

/** @internal */
export const withLease = <T>(lease: AnyLease, fn: () => T): T => leases.run(lease, fn);

/**
 * The lease of the running `@Locked` method; of several, the innermost. A method that reads or takes permits has a lease
 * without a token: `currentLease<SharedLease>()`.
 * @throws LockError `LOCK_NOT_HELD` outside such a method
 * @example
 * const grab = locked({ key: 'order:{0}', locks }, async (id: number) => writeOrder(id, currentLease().token));
 * await grab(42);
 */
export function currentLease<L extends AnyLease = Lease>(): L {
  const lease = leases.getStore();
  if (lease) return lease as L;
  throw new LockError('LOCK_NOT_HELD', 'currentLease() was called outside a method or function that is locked');
}
