import { AsyncLocalStorage } from 'node:async_hooks';
import { invalid, LockError, shown } from '../core/contract/errors.ts';
import type { Locks, MemoOptions, MemoRun } from '../index.ts';
import { inPlaceOf, keyFor } from './call.ts';
import { locksOf } from './locks.ts';
import { checkKeyOption, type Key } from './options.ts';
import { isMethod, type Method, placeOf } from './place.ts';

/** Options of `@Memo` and `memoized`: those of a memo, its key, and what tells requests apart. */
export interface MemoizedOptions<A extends unknown[] = never[], T = never> extends Omit<MemoOptions<T>, 'match'> {
  /** A template such as `'report:{0}'`, or a function of the arguments. Default: the method's name and its first argument. */
  readonly key?: Key<A>;
  /** What the request is, as data made of the arguments. A call with another one under the same key gets `LOCK_MISMATCH`. */
  readonly match?: (...args: A) => unknown;
  /** Default: the locks of the class (`lockedBy`), else those of `useLocks`. */
  readonly locks?: Locks;
}

/** Decorates a method, as a standard decorator or a legacy one (`experimentalDecorators`). */
export interface MemoDecorator {
  <M extends Method>(method: M, context: { readonly kind: 'method'; readonly name: string | symbol }): M;
  <M extends Method>(target: object, name: string | symbol, descriptor: TypedPropertyDescriptor<M>): void;
}

type Given = MemoizedOptions<unknown[], unknown>;

const runs = new AsyncLocalStorage<MemoRun>();

/**
 * The run of the `@Memo` method that is running: its token, and the signal of a loss.
 * @throws LockError `LOCK_NOT_HELD` outside such a method
 * @example
 * const rates = memoized({ key: 'rates', keep: '10m', locks }, async () => fetch('https://rates.example', currentRun()));
 */
export function currentRun(): MemoRun {
  const run = runs.getStore();
  if (run) return run;
  throw new LockError('LOCK_NOT_HELD', 'currentRun() was called outside a method or function whose result is kept');
}

function remembering<M extends Method>(method: M, { key, match, locks, ...options }: Given, name: string): M {
  checkKeyOption(key);
  if (match !== undefined && typeof match !== 'function')
    throw invalid(`match is ${shown(match)}; it must be a function of the arguments`);
  const keyOf = keyFor(key as (...args: unknown[]) => string, method, name);
  async function run(this: unknown, ...args: unknown[]): Promise<unknown> {
    const own = match ? { ...options, match: match(...args) } : options;
    const memo = locksOf(this, locks, name).memo(keyOf(args), own);
    const { value } = await memo.run((run) => runs.run(run, () => Reflect.apply(method, this, args)));
    return value;
  }
  return inPlaceOf(method, run);
}

/**
 * One of all calls with the same key runs the method, and all have its result: `locks.memo`. What the method gives has to be what JSON
 * keeps, unless `encode` and `decode` are given. Each caller has a value of its own.
 * @throws LockError `LOCK_INVALID` when the class is made, for errors that show by then
 * @example
 * ```ts
 * class Reports {
 *   @Memo({ key: 'report:{0}', keep: '1d' })
 *   async build(day: string): Promise<string> {
 *     return `the report of ${day}`;
 *   }
 * }
 * ```
 */
export function Memo(options: MemoizedOptions = {}): MemoDecorator {
  return ((...decorated: unknown[]) => {
    const { name, method, put } = placeOf(decorated, '@Memo');
    return put(remembering(method, options as Given, name));
  }) as MemoDecorator;
}

/**
 * The same for a function.
 * @throws LockError `LOCK_INVALID`
 * @example const prices = memoized({ key: 'prices:{0}', keep: '10m', locks }, async (shop: string) => ({ shop, price: 3 }));
 */
export function memoized<A extends unknown[], R>(
  options: MemoizedOptions<A, R>,
  fn: (...args: A) => Promise<R>,
): (...args: A) => Promise<R> {
  if (!isMethod(fn)) throw invalid('memoized(options, fn) needs a function that returns a promise');
  if (fn.name === '' && options.key === undefined)
    throw invalid('memoized() needs a key for a function without a name');
  return remembering(fn, options as unknown as Given, fn.name || 'a function');
}
