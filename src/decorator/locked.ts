import { invalid } from '../core/contract/errors.ts';
import { locking } from './call.ts';
import {
  type BusyArgs,
  type Key,
  type KeyOption,
  type LockedOptions,
  type OnBusy,
  planOf,
  type WhenBusy,
} from './options.ts';
import { isMethod, type Method, placeOf } from './place.ts';

/** `unknown` if the functions of the options accept the method's arguments, and the method may return what `onBusy` returns. */
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
 * Runs the method only with the lock held. The method must return a promise; `this`, arguments, result and errors stay its own.
 * @param key a template (`'order:{0}'`, `'order:{0.id}'`, `'order:{order.id}'`) or a function of the arguments. Default: the
 * method's name and its first argument
 * @throws LockError `LOCK_INVALID` when the class is made, for errors that show by then
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
export function Locked(
  first?: Key | (LockedOptions & KeyOption),
  more: LockedOptions = {},
): LockedDecorator<[], 'throw'> {
  const plan = planOf(typeof first === 'object' ? first : more && { ...more, key: first });
  return ((...decorated: unknown[]) => {
    const { name, method, put } = placeOf(decorated, '@Locked');
    return put(locking(method, plan, name));
  }) as LockedDecorator<[], 'throw'>;
}

/**
 * Locks a function in the same way.
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
