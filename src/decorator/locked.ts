import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { type AnyLease, backOff, invalid, isLockError, type Lease, LockError } from '../core/index.ts';
import type { Lock, Locks, PermitOptions } from '../index.ts';
import { locksOf } from './locks.ts';
import {
  type BusyArgs,
  type Key,
  type KeyOption,
  type LockedOptions,
  type OnBusy,
  type Plan,
  planOf,
  type WhenBusy,
} from './options.ts';
import { isMethod, type Method, placeOf } from './place.ts';
import { fromName, fromTemplate, type KeyOf } from './template.ts';

type AnyMethod = (...args: never[]) => unknown;
type AnyLock = Lock<AnyLease, PermitOptions>;

/** Wraps a method, so that it runs only with the lock held. */
function locking<M extends AnyMethod>(method: M, given: Plan, name: string): M {
  const { key, lock: options } = given;
  // Calls of one method do the same work under many keys. So their adaptive leases learn as one group, named after the template or the method.
  const adaptive = options.adaptive && { group: typeof key === 'string' ? key : name, ...options.adaptive };
  const plan = { ...given, lock: { ...options, adaptive } };
  const keyOf = keyFor(key, method, name);
  async function run(this: unknown, ...args: unknown[]): Promise<unknown> {
    const lock = lockOf(plan, locksOf(this, plan.locks, name), keyOf(args));
    for (let attempts = 0; ; attempts++) {
      let began = false;
      const work = (lease: AnyLease): unknown => {
        began = true;
        return leases.run(lease, () => Reflect.apply(method, this, args));
      };
      try {
        return await lock.run(work, plan.kind === 'semaphore' ? { units: plan.units } : undefined);
      } catch (error) {
        // An error of the method goes to the caller, even if it is a LockError.
        if (began) throw error;
        const busy = isLockError(error, 'LOCK_TIMEOUT');
        if (attempts < plan.retries && (busy || isLockError(error, 'LOCK_UNAVAILABLE'))) {
          const { signal } = plan.lock;
          // An aborted signal ends the pause early. Then the next attempt throws `LOCK_ABORTED`.
          await pause(backOff(plan.spin, attempts, Math.random()), undefined, { signal }).catch(() => {});
        } else if (!busy || plan.onBusy === 'throw') throw error;
        else return plan.onBusy === 'skip' ? undefined : await plan.onBusy(error, ...args);
      }
    }
  }
  return inPlaceOf(method, run);
}

/** @internal Gives a function the name and the length of the method that it replaces. */
export function inPlaceOf<M extends AnyMethod>(method: M, run: (...args: unknown[]) => Promise<unknown>): M {
  Object.defineProperties(run, { name: { value: method.name }, length: { value: method.length } });
  return run as AnyMethod as M;
}

/** @internal Makes the keys of the calls of a method. */
export function keyFor(key: Plan['key'], method: AnyMethod, name: string): KeyOf {
  if (key === undefined) return fromName(name);
  if (typeof key === 'string') return fromTemplate(key, method, name);
  return (args) => key(...args);
}

function lockOf({ kind, permits, lock }: Plan, locks: Locks, key: string): AnyLock {
  if (kind === 'semaphore') return locks.semaphore(key, { permits, ...lock });
  return kind === 'mutex' ? locks.mutex(key, lock) : locks.rwLock(key, lock)[kind];
}

const leases = new AsyncLocalStorage<AnyLease>();

/**
 * The lease of the running `@Locked` method; of nested methods, the innermost. The lease of a `read` lock or of permits has no
 * token: `currentLease<SharedLease>()`.
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

/** `unknown` if the functions of the options accept the method's arguments, and the method may return the result of `onBusy`; else `never`. */
type Fits<M extends Method, A extends unknown[], B> =
  Parameters<M> extends [...A, ...unknown[]] & [...BusyArgs<B>, ...unknown[]]
    ? [WhenBusy<B>] extends [Awaited<ReturnType<M>>]
      ? unknown
      : never
    : never;

/** Decorates a method, as a standard decorator or a legacy one (`experimentalDecorators`). */
export interface LockedDecorator<A extends unknown[], B> {
  <M extends Method>(
    method: M & Fits<M, A, B>,
    context: { readonly kind: 'method'; readonly name: string | symbol },
  ): M;
  <M extends Method>(
    target: object,
    name: string | symbol,
    descriptor: TypedPropertyDescriptor<M> & Fits<M, A, B>,
  ): void;
}

/**
 * Runs the method only with the lock held. The method must return a promise. `this`, arguments, result and errors do not change.
 * @param key a template (`'order:{0}'`, `'order:{0.id}'`, `'order:{order.id}'`) or a function of the arguments. Default: the
 * method's name and its first argument
 * @throws LockError `LOCK_INVALID` when the class is made, for errors that can be found then
 * @example
 * ```ts
 * class Orders {
 *   @Locked('order:{0}', { wait: '2s' })
 *   async grab(id: number, driver: string): Promise<void> {
 *     await writeOrder(id, driver, currentLease().token);
 *   }
 * }
 * ```
 */
export function Locked<A extends unknown[] = [], B extends OnBusy = 'throw'>(
  key: Key<A>,
  options?: LockedOptions<B>,
): LockedDecorator<A, B>;
export function Locked<A extends unknown[] = [], B extends OnBusy = 'throw'>(
  options?: LockedOptions<B> & KeyOption<A>,
): LockedDecorator<A, B>;
export function Locked(first?: Key | (LockedOptions & KeyOption), more = {}): LockedDecorator<[], 'throw'> {
  const plan = planOf(typeof first === 'object' ? first : more && { ...more, key: first });
  return ((...decorated: unknown[]) => {
    const { name, method, put } = placeOf(decorated, '@Locked');
    return put(locking(method, plan, name));
  }) as LockedDecorator<[], 'throw'>;
}

/**
 * Runs a function only with the lock held, as `@Locked` does a method.
 * @throws LockError `LOCK_INVALID`
 * @example const build = locked({ key: 'report:{0}', onBusy: 'skip' }, async (day: string) => report(day));
 */
export function locked<A extends unknown[], R, B extends OnBusy = 'throw'>(
  options: LockedOptions<B> & KeyOption<A>,
  fn: (...args: A) => Promise<R>,
): (...args: A) => Promise<R | WhenBusy<B>> {
  if (!isMethod(fn)) throw invalid('locked(options, fn) needs a function that returns a promise');
  const plan = planOf(options as LockedOptions & KeyOption);
  if (fn.name === '' && plan.key === undefined) throw invalid('locked() needs a key for a function without a name');
  return locking(fn, plan, fn.name || 'a function');
}
