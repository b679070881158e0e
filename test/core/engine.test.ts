import { expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import type { Backend, QueueEntry, Renewal } from '../../src/core/contract/backend.ts';
import { quoted, reasonOf } from '../../src/core/contract/errors.ts';
import { Engine } from '../../src/core/engine/engine.ts';
import { LockError } from '../../src/index.ts';
import { claim } from './claim.ts';

/** An engine of which some calls are replaced. */
function setup(calls: Partial<Backend> = {}) {
  const clock = manualClock();
  return { clock, engine: new Engine(around(memory({ clock }), calls), clock) };
}
const asked = claim('a', { key: 'order:42' });
const never = () => new Promise<never>(() => {});
const messageOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'no error',
    ({ message }: Error) => message,
  );

test('a call that is not answered says what was asked, for which key, and for how long', async () => {
  const { clock, engine } = setup({
    attempt: never,
    renew: never,
    release: never,
    evict: never,
    check: never,
    close: never,
  });
  const said = Promise.all(
    [
      engine.attempt(asked),
      engine.attempt({ ...asked, within: 5_000 }),
      engine.renew([asked, asked], 300),
      engine.release(asked),
      engine.release(asked, asked),
      engine.evict('order:42', 1n),
      engine.check(),
      engine.close(),
    ].map(messageOf),
  );
  await clock.advance(20_000);
  expect(await said).toEqual([
    'take "order:42": no answer within 1000 ms, half of the lease',
    'take "order:42": no answer within 5000 ms',
    'renew 2 holds: no answer within 300 ms',
    'release "order:42": no answer within 5000 ms',
    'release "order:42": no answer within 1000 ms, half of the lease of the next claim',
    expect.stringContaining(
      'memory could not be asked for "order:42": look at "order:42": no answer within 5000 ms. Nobody knows',
    ),
    'memory could not be checked: asked for its settings: no answer within 5000 ms',
    'memory could not be closed: close: no answer within 15000 ms',
  ]);
});

test('a limit is told in whole ms, and one hold is no holds', async () => {
  const { clock, engine } = setup({ attempt: never, renew: never });
  const said = Promise.all(
    [engine.attempt({ ...asked, within: 1_295.0487990000001 }), engine.renew([asked], 999.9999999)].map(messageOf),
  );
  await clock.advance(20_000);
  expect(await said).toEqual([
    'take "order:42": no answer within 1295 ms, half of the lease',
    'renew 1 hold: no answer within 1000 ms',
  ]);
});

test('what the backend knows of its obstacle is said with it', async () => {
  const { clock, engine } = setup({ attempt: never, obstacle: () => 'all connections are in use' });
  const said = messageOf(engine.attempt(asked));
  await clock.advance(1_000);
  expect(await said).toBe('take "order:42": no answer within 1000 ms, half of the lease; all connections are in use');
});

test.each<[string, unknown, Renewal[]]>([
  ['no answers', undefined, ['unknown', 'unknown']],
  ['too few', [{ validFor: 5 }], [{ validFor: 5 }, 'unknown']],
  ['holes', [undefined, 'gone'], ['unknown', 'gone']],
  ['no answer that there is', [{}, 'renewed'], ['unknown', 'unknown']],
])('a renewal to which a backend gives %s is told as unknown', async (_, answers, told) => {
  const { engine } = setup({ renew: async () => answers as Renewal[] });
  expect(await engine.renew([asked, asked], 300)).toEqual(told);
});

test('an error of ours is passed on as it is, whatever was asked', async () => {
  const ours = new LockError('LOCK_UNSUPPORTED', 'not with these rights');
  const fails = () => Promise.reject(ours);
  const { engine } = setup({ check: fails, close: fails, evict: fails });
  for (const call of [engine.check(), engine.close(), engine.evict('key', 1n)]) await expect(call).rejects.toBe(ours);
});

test('a backend without checks finds nothing', async () => {
  const { engine } = setup({ check: undefined });
  expect(await engine.check()).toEqual([]);
});

test('a listing that nobody reads to its end is ended at the engine, and whoever ends it waits for nothing', async () => {
  let returned = 0;
  const standing = { key: 'a', label: 'x' } as QueueEntry;
  const listing = {
    next: async () => ({ done: false as const, value: standing }),
    return() {
      returned++;
      return never();
    },
  };
  const { engine } = setup({ inspect: () => ({ [Symbol.asyncIterator]: () => listing }) as never });
  for await (const { label } of engine.inspect('')) {
    expect(label).toBe('x');
    break;
  }
  expect(returned).toBe(1);
});

test('an iterator that cannot be ended is only left, and nobody has to ask for progress', async () => {
  const inspect = (_: string, told?: { progress?: (looked: number) => void }) => ({
    [Symbol.asyncIterator]: () => ({
      async next() {
        told?.progress?.(1);
        return { done: false, value: { key: 'a', label: '' } };
      },
    }),
  });
  const { engine } = setup({ inspect: inspect as never });
  for await (const _ of engine.inspect('')) break;
  const looked: number[] = [];
  for await (const _ of engine.inspect('', { progress: (count) => looked.push(count) })) break;
  expect(looked).toEqual([1]);
});

test('a long key is shown by its beginning, and whatever was thrown by what it says', () => {
  expect(quoted('x'.repeat(80))).toBe(`"${'x'.repeat(80)}"`);
  expect(quoted('x'.repeat(81))).toBe(`"${'x'.repeat(77)}…"`);
  expect(reasonOf(new Error('It broke. '))).toBe('It broke');
  expect(reasonOf('text')).toBe('text');
  expect(reasonOf(7)).toBe('7');
});

test('the keys of memos are listed by their beginning, and each request for them is progress', async () => {
  const prefixes: string[] = [];
  const { engine } = setup({
    values: {
      async *keys(prefix: string, step: (looked: number) => void) {
        prefixes.push(prefix);
        step(2);
        yield 'memo:1';
      },
    } as never,
  });
  const looked: number[] = [];
  const found: string[] = [];
  for await (const key of engine.remembered('memo', (count) => looked.push(count))) found.push(key);
  expect([prefixes, looked, found]).toEqual([['memo'], [2], ['memo:1']]);
});
