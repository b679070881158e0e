import { AsyncLocalStorage } from 'node:async_hooks';
import { invalid, LockError, shown } from '../core/index.ts';
import type { Locks, MemoOptions, MemoRun } from '../index.ts';
import { requestOf } from '../memo/match.ts';
import { inPlaceOf, keyFor } from './locked.ts';
import { locksOf } from './locks.ts';
import { checkKeyOption, type Key } from './options.ts';
import { isMethod, type Method, placeOf } from './place.ts';
import { fromName, isMinified } from './template.ts';

/** Options of `@Memo` and `memoized`: memo options, the key, and what makes two requests different. */
export interface MemoizedOptions<A extends unknown[] = never[], T = never> extends Omit<MemoOptions<T>, 'match'> {
  /**
   * A template such as `'report:{0}'`, or a function of the arguments. Default: the names of the class and of the method, and the first
   * argument. `memoized` and a minified class need a key.
   */
  readonly key?: Key<A>;
  /** Makes the data that identifies the request from the arguments; default: all. A call with other data under the same key gets `LOCK_MISMATCH`. */
  readonly match?: (...args: A) => unknown;
  /** Default: the locks of `lockedBy`, else of the Nest application, else of `useLocks`. */
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
 * The run of the `@Memo` method that is running: its token, and the signal that asks it to stop.
 * @throws LockError `LOCK_NOT_HELD` outside such a method
 * @example
 * const rates = memoized({ key: 'rates', keep: '10m', locks }, async () => fetch('https://rates.example', currentRun()));
 */
export function currentRun(): MemoRun {
  const run = runs.getStore();
  if (run) return run;
  throw new LockError('LOCK_NOT_HELD', 'currentRun() was called outside a method or function whose result is kept');
}

type KeyOfCall = (self: unknown, args: readonly unknown[]) => string;

function remembering<M extends Method>(method: M, given: Given, name: string, ownKey: () => KeyOfCall): M {
  const { key, match, locks, ...options } = given;
  checkKeyOption(key);
  if (match !== undefined && typeof match !== 'function')
    throw invalid(`match is ${shown(match)}; it must be a function of the arguments`);
  const byOption = key !== undefined && keyFor(key as (...args: unknown[]) => string, method, name);
  const keyOf: KeyOfCall = byOption ? (_, args) => byOption(args) : ownKey();
  async function run(this: unknown, ...args: unknown[]): Promise<unknown> {
    const request = match ? match(...args) : requestOf(args, name);
    const memo = locksOf(this, locks, name).memo(keyOf(this, args), { ...options, match: request });
    const { value } = await memo.run((run) => runs.run(run, () => Reflect.apply(method, this, args)));
    return value;
  }
  return inPlaceOf(method, run);
}

/** Makes the keys of a method without the option `key`. @throws LockError `LOCK_INVALID` if other methods could have the same keys */
function keyOfPlace(method: Method, name: string): KeyOfCall {
  if (isMinified(method)) throw needsKey(name, 'its class is minified, and others may have the same name');
  return (self, args) => {
    const isStatic = typeof self === 'function';
    const of = isStatic ? self.name : (self as object | undefined)?.constructor?.name;
    if (!of || of === 'default') throw needsKey(name, 'it was called on an object whose class has no name');
    return fromName(`${isStatic ? 'static ' : ''}${of}.${name}`)(args);
  };
}

const needsKey = (name: string, why: string): LockError => invalid(`@Memo on ${name} needs a key: ${why}`);

/**
 * One of all calls with the same key runs the method, and all get its result, as with `locks.memo`. A call with other arguments
 * under the same key is refused. Each caller gets its own copy of the kept value.
 * @throws LockError `LOCK_INVALID` when the class is made, for errors that can be found then
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
    return put(remembering(method, options as Given, name, () => keyOfPlace(method, name)));
  }) as MemoDecorator;
}

/**
 * Does for a function what `@Memo` does for a method. It needs a key, since a minifier gives many functions the same name.
 * @throws LockError `LOCK_INVALID`
 * @example const prices = memoized({ key: 'prices:{0}', keep: '10m', locks }, async (shop: string) => ({ shop, price: 3 }));
 */
export function memoized<A extends unknown[], R>(
  options: MemoizedOptions<A, R> & { readonly key: Key<A> },
  fn: (...args: A) => Promise<R>,
): (...args: A) => Promise<R> {
  if (!isMethod(fn)) throw invalid('memoized(options, fn) needs a function that returns a promise');
  return remembering(fn, options as unknown as Given, fn.name || 'a function', () => {
    throw invalid('memoized() needs a key: other functions may have the same name');
  });
}
