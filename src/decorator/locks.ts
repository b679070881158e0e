import { invalid, LockError, ofAllCopies, shown } from '../core/index.ts';
import type { Locks } from '../index.ts';

/**
 * The name of the getter that gives the `Locks` of a class's methods.
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

/** @internal An application of a framework: objects belong to it. */
export interface Application {
  readonly locks: Locks;
  readonly open: boolean;
}

let shared: Locks | undefined;
/** All copies of the package share this map: the decorators of a class may come from another copy than its application. */
const applications = ofAllCopies('applications', () => new WeakMap<object, readonly Application[]>());

/** The open applications of an object; if all have ended, the last one that the object was bound to. */
function applicationsOf(self: unknown): readonly Application[] {
  const all = applications.get(self as object) ?? [];
  const open = all.filter((application) => application.open);
  return open.length > 0 ? open : all.slice(-1);
}

/** @internal Records that an object belongs to an application, without a change of the object. */
export function bindTo(application: Application, self: object): void {
  const others = applicationsOf(self).filter((other) => other.open && other !== application);
  applications.set(self, [...others, application]);
}

/**
 * @internal Gives the application of an object; undefined if it has none. @param name for the message
 * @throws LockError `LOCK_INVALID` if several applications share the object: each has its own locks
 */
export function oneApplicationOf(self: unknown, name: string): Application | undefined {
  const all = applicationsOf(self);
  if (all.length > 1)
    throw invalid(
      `${name} belongs to an object that ${all.length} applications share, and each has Locks of its own; give each an object of its own, or the option locks`,
    );
  return all[0];
}

/**
 * Sets the `Locks` for all decorated methods without `Locks` of their own. Call it once at the start. In a test, call it with `using`:
 * the end of the block restores the former `Locks`.
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
 * Gives the locks of the option, else of the class, else of the object's application, else of `useLocks`. Each call looks them up again,
 * so they may change.
 * @throws LockError `LOCK_INVALID`
 */
export function locksOf(self: unknown, given: Locks | undefined, name: string): Locks {
  const own = given ?? (self as { [lockedBy]?: Locks } | undefined)?.[lockedBy];
  const locks = own === undefined ? (oneApplicationOf(self, name)?.locks ?? shared) : own;
  if (typeof locks?.mutex === 'function') return locks;
  throw new LockError(
    'LOCK_INVALID',
    locks === undefined
      ? `${name} has no Locks: call useLocks(createLocks(…)) at the start, or give its class a getter [lockedBy]. In Nest, make the object a provider and let the application start (in a test, await app.init()), or call useLocks(app.get(Locks))`
      : `${name} was given ${shown(locks)}, not Locks; make them with createLocks(backend)`,
  );
}
