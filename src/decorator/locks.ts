import { LockError, shown } from '../core/errors.ts';
import type { Locks } from '../index.ts';

/**
 * The getter with which a class names the `Locks` of its methods.
 * @example
 * ```ts
 * class Reports {
 *   get [lockedBy]() {
 *     return locks;
 *   }
 *
 *   @Locked('report:{day}')
 *   async build(day: string): Promise<void> {}
 * }
 * ```
 */
export const lockedBy: unique symbol = Symbol.for('holdfast.lockedBy') as never;

let shared: Locks | undefined;
const bound = new WeakMap<object, Locks>();

/** @internal For a framework that makes the objects: it says which locks each object uses, and does not change the object. */
export const bindLocks = (self: object, locks: Locks): void => {
  bound.set(self, locks);
};

/**
 * Sets the `Locks` of all `@Locked` methods whose class names none. Call it once at the start, or for a while in a test: the
 * end of the `using` block restores the former ones.
 * @example using _ = useLocks(createLocks(memory()));
 */
export function useLocks(locks: Locks): Disposable {
  const before = shared;
  shared = locks;
  return {
    [Symbol.dispose]() {
      shared = before;
    },
  };
}

/**
 * The locks of the option, else of the class, else of the object, else the shared ones. It looks at every call, so they can
 * change.
 * @throws LockError `LOCK_INVALID`
 */
export function locksOf(self: unknown, given: Locks | undefined, name: string): Locks {
  const own = (self as { [lockedBy]?: Locks } | undefined)?.[lockedBy];
  const locks = given ?? own ?? bound.get(self as object) ?? shared;
  if (typeof locks?.mutex === 'function') return locks;
  throw new LockError(
    'LOCK_INVALID',
    locks === undefined
      ? `${name} has no Locks: call useLocks(createLocks(…)) at the start, or give its class a getter [lockedBy]`
      : `${name} was given ${shown(locks)}, not Locks; make them with createLocks(backend)`,
  );
}
