import type { Lease, LockOptions } from '../../src/core/index.ts';
import { createLocks, type Locks, runtimeOf } from '../../src/locks.ts';

/** The hold of another process. Its `release` ends that process, too. */
export interface AnotherHolder extends AsyncDisposable {
  /** The lease. */
  readonly lease: Lease;
  /**
   * Gives the key back.
   * @example
   * const held = await heldByAnother(locks, 'order:42');
   * await held.release();
   */
  release(): Promise<void>;
}

/**
 * Holds a key as another process would, on the same engine.
 * @param options options of the lock; the default of `wait` is 0
 * @throws LockError `LOCK_TIMEOUT` if the key is taken
 * @example
 * await using held = await heldByAnother(locks, 'order:42');
 * console.log(await locks.mutex('order:42').tryAcquire()); // null
 */
export async function heldByAnother(locks: Locks, key: string, options: LockOptions = {}): Promise<AnotherHolder> {
  const { backend, clock } = runtimeOf(locks, 'heldByAnother()').engine;
  const others = createLocks(backend, { clock, label: 'another process', wait: 0, reentrant: false });
  const release = (): Promise<void> => others.close();
  try {
    return { lease: await others.mutex(key, options).acquire(), release, [Symbol.asyncDispose]: release };
  } catch (error) {
    await release();
    throw error;
  }
}
