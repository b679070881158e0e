import { invalid, LockError, ofAllCopies, shown } from '../core/index.ts';
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

/** @internal An application of a framework, which objects belong to. */
export interface Application {
  readonly locks: Locks;
  readonly open: boolean;
}

let shared: Locks | undefined;
/** Shared by all copies of the package: a class may be decorated by another copy than that of its application. */
const applications = ofAllCopies('applications', () => new WeakMap<object, readonly Application[]>());

/** The applications of an object that have not ended, or else the one that ended last. */
function applicationsOf(self: unknown): readonly Application[] {
  const all = applications.get(self as object) ?? [];
  const open = all.filter((application) => application.open);
  return open.length > 0 ? open : all.slice(-1);
}

/** @internal For a framework that makes objects: says which application an object is of, without a change of the object. */
export function bindTo(application: Application, self: object): void {
  const others = applicationsOf(self).filter((other) => other.open && other !== application);
  applications.set(self, [...others, application]);
}

/** @internal @throws LockError `LOCK_INVALID` for an object of several applications, each of which has its own locks */
export function checkOneApplication(self: unknown, name: string): void {
  const { length } = applicationsOf(self);
  if (length > 1)
    throw invalid(
      `${name} belongs to an object that ${length} applications share, and each has Locks of its own; give each an object of its own, or the option locks`,
    );
}

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
 * The locks of the option, else of the class, else of the application of the object, else those of `useLocks`. Each call looks again,
 * so they may change.
 * @throws LockError `LOCK_INVALID`
 */
export function locksOf(self: unknown, given: Locks | undefined, name: string): Locks {
  const own = given ?? (self as { [lockedBy]?: Locks } | undefined)?.[lockedBy];
  const locks = own === undefined ? (bound(self, name) ?? shared) : own;
  if (typeof locks?.mutex === 'function') return locks;
  throw new LockError(
    'LOCK_INVALID',
    locks === undefined
      ? `${name} has no Locks: call useLocks(createLocks(…)) at the start, or give its class a getter [lockedBy]. In Nest, make the object a provider and let the application start (in a test, await app.init()), or call useLocks(app.get(Locks))`
      : `${name} was given ${shown(locks)}, not Locks; make them with createLocks(backend)`,
  );
}

function bound(self: unknown, name: string): Locks | undefined {
  checkOneApplication(self, name);
  return applicationsOf(self)[0]?.locks;
}
