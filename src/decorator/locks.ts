import { LockError, shown } from '../core/errors.ts';
import type { Locks } from '../index.ts';

/**
 * The getter by which a class says which `Locks` its methods use.
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

/** @internal For what makes the objects: a framework says which locks each of them uses, and leaves the object as it is. */
export const bindLocks = (self: object, locks: Locks): void => {
  bound.set(self, locks);
};

/**
 * The `Locks` of every `@Locked` method whose class names none. Given once, at the start; or for a while, in a test:
 * its end puts back what was there.
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
 * The option, else the class's, else those bound to the object, else the shared ones. Asked at every call, so that they can be exchanged.
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
