/** What one call made is given to another only if that is of the same place, with the same arguments. */
import { runInThisContext } from 'node:vm';
import { transformSync } from 'esbuild';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { memory } from '../../src/backends/memory.ts';
import { type Key, Memo, type MemoizedOptions, memoized, useLocks } from '../../src/decorator/index.ts';
import { createLocks, isLockError, type Locks } from '../../src/index.ts';

let locks: Locks;
let before: Disposable;
beforeEach(() => {
  locks = createLocks(memory());
  before = useLocks(locks);
});
afterEach(async () => {
  before[Symbol.dispose]();
  await locks.close();
});

const KEPT = { keep: '1h' } as const;
class Users {
  @Memo(KEPT)
  async find(id: number): Promise<string> {
    return `user ${id}`;
  }
}
class Orders {
  @Memo(KEPT)
  async find(id: number): Promise<string> {
    return `order ${id}`;
  }
  @Memo(KEPT)
  static async find(id: number): Promise<string> {
    return `static ${id}`;
  }
}
class OldOrders extends Orders {}

test('methods of one name of different classes have results of their own', async () => {
  const all = [new Users(), new Orders(), new OldOrders()];
  expect(await Promise.all(all.map((each) => each.find(42)))).toEqual(['user 42', 'order 42', 'order 42']);
  for (const key of ['Users.find:42', 'Orders.find:42', 'OldOrders.find:42'])
    expect(await locks.memo(key).peek(), key).toMatchObject({ state: 'kept' });
});

test('a static method and one of the instances have results of their own', async () => {
  expect(await Orders.find(1)).toBe('static 1');
  expect(await new Orders().find(1)).toBe('order 1');
  expect(await locks.memo('static Orders.find:1').peek()).toMatchObject({ state: 'kept' });
});

const mismatch = { code: 'LOCK_MISMATCH' };
test.each<[string, Key<unknown[]>, unknown[], unknown[]]>([
  ['an argument that the key has not', 'price:{0}', ['tea', 'EUR'], ['tea', 'JPY']],
  ['a key that joins its arguments', 'doc:{0}:{1}', ['a:b', 'c'], ['a', 'b:c']],
  ['a number and its text', 'of {0}', [1], ['1']],
  ['a bigint and its number', 'of {0}', [1n], [1]],
  ['a key of no argument', 'all', [{ shop: 1 }], [{ shop: 2 }]],
  [
    'a key from a function',
    (...args) => `${(args[0] as { id: number }).id}`,
    [{ id: 1, of: 'a' }],
    [{ id: 1, of: 'b' }],
  ],
  ['an argument more', 'of {0}', ['a'], ['a', undefined]],
  ['dates', 'all', [new Date(1)], [new Date(2)]],
])('%s: another call under the same key is a mismatch', async (_, key, one, other) => {
  const make = memoized({ ...KEPT, key }, async (...args: unknown[]) => args.map(String));
  const made = await make(...one);
  await expect(make(...other)).rejects.toMatchObject(mismatch);
  expect(await make(...structuredClone(one))).toEqual(made);
});

test('without a key, of two calls with the same first argument the second is a mismatch if others differ', async () => {
  class Prices {
    @Memo(KEPT)
    async price(item: string, currency: string): Promise<string> {
      return `${item} in ${currency}`;
    }
  }
  const prices = new Prices();
  expect(await prices.price('tea', 'EUR')).toBe('tea in EUR');
  await expect(prices.price('tea', 'JPY')).rejects.toMatchObject(mismatch);
});

test('for any two calls with different arguments no value crosses', async () => {
  const plain = fc.oneof(fc.constantFrom('a', 'a:b', 'b', 1, '1', 1n, true, 'true'), fc.string({ maxLength: 3 }));
  const rest = fc.oneof(plain, fc.anything({ withBigInt: true, withDate: true, withMap: true, withSet: true }));
  const keys = fc.constantFrom<Key<unknown[]>>('all', '{0}', '{1}', '{0}:{1}', '{1}:{0}', (first) => `${first}`);
  const args = fc.tuple(plain, plain, rest).chain(([a, b, c]) => fc.constantFrom([a, b], [a, b, c], [b, a], [a, b, b]));
  const some = fc.array(args, { minLength: 2, maxLength: 3 });
  const calls = some.chain((pool) => fc.array(fc.constantFrom(...pool), { minLength: 2, maxLength: 6 }));
  const seen = { made: 0, had: 0, refused: 0 };
  await fc.assert(
    fc.asyncProperty(keys, calls, async (key, calls) => {
      await using own = createLocks(memory());
      const given: unknown[][] = [];
      const make = memoized({ ...KEPT, key, locks: own }, async (...each: unknown[]) => given.push(each) - 1);
      for (const call of calls) {
        const runs = given.length;
        try {
          expect(given[await make(...call)], 'the value is of these arguments').toStrictEqual(call);
          seen[given.length > runs ? 'made' : 'had']++;
        } catch (error) {
          if (!isLockError(error, 'LOCK_MISMATCH') && !isLockError(error, 'LOCK_INVALID')) throw error;
          seen.refused++;
        }
      }
    }),
    { numRuns: 300 },
  );
  for (const [what, count] of Object.entries(seen)) expect(count, what).toBeGreaterThan(20);
});

describe('what says nothing of a place, or of a call, is refused', () => {
  const refused = (what: string) =>
    expect.objectContaining({ code: 'LOCK_INVALID', message: expect.stringContaining(what) });

  test('a function has no key of its own: its name is that of many, after a minifier', () => {
    async function find(): Promise<number> {
      return 1;
    }
    expect(() => memoized(KEPT as never, find)).toThrow(refused('needs a key'));
  });

  test('a minified class has no key of its own: a minifier gives many the same name', () => {
    const classOf = (code: string) => runInThisContext(`(${code.replace(/;\n*$/, '')})`) as { prototype: object };
    const source = 'class Orders { async find(id) { return id } }';
    for (const minify of [false, true]) {
      const { prototype } = classOf(transformSync(source, { minify }).code);
      const decorate = (options?: MemoizedOptions) =>
        Memo(options)(prototype, 'find', Object.getOwnPropertyDescriptor(prototype, 'find')!);
      if (minify) expect(() => decorate()).toThrow(refused('minified'));
      else expect(() => decorate()).not.toThrow();
      expect(() => decorate({ key: 'find:{0}' })).not.toThrow();
    }
  });

  test('an object of no class has no key of its own', async () => {
    const find = new Orders().find as (this: unknown, id: number) => Promise<string>;
    class Named {}
    Object.defineProperty(Named, 'name', { value: 'default' }); // so it is in `export default class {}`
    for (const self of [undefined, Object.create(null), new (class {})(), new Named()])
      await expect(Reflect.apply(find, self, [1])).rejects.toEqual(refused('needs a key'));
  });

  test('an argument that cannot be compared, unless match says what counts', async () => {
    const work = async (day: string, _signal: AbortSignal): Promise<string> => day;
    const { signal } = new AbortController();
    const options: MemoizedOptions<[string, AbortSignal], string> = { ...KEPT, key: 'day' };
    await expect(memoized({ ...options, key: 'day' }, work)('monday', signal)).rejects.toEqual(
      refused('arguments[1] is an instance of AbortSignal, which shows nothing of it. Give match'),
    );
    const matched = memoized({ ...options, key: 'day', match: (day) => day }, work);
    expect(await matched('monday', signal)).toBe('monday');
    await expect(matched('tuesday', signal)).rejects.toMatchObject(mismatch);
  });

  test('a match that gives undefined', async () => {
    const make = memoized({ ...KEPT, key: 'all', match: () => undefined }, async () => 1);
    await expect(make()).rejects.toEqual(refused('match is undefined'));
  });
});
