import { expect, test } from 'vitest';
import { around } from '../../../products/testing/around.ts';
import { manualClock } from '../../../products/testing/index.ts';
import { memory } from '../../../src/backends/memory.ts';
import { quorum } from '../../../src/backends/quorum/index.ts';
import { EXCLUSIVE } from '../../../src/core/contract/admission.ts';
import type { Backend, Listing, QueueEntry } from '../../../src/core/contract/backend.ts';
import { outcomeOf } from './scripted.ts';

type List = (prefix: string, listing: Listing) => AsyncIterable<QueueEntry>;

const HELD: QueueEntry = {
  ...{ key: 'k', held: true, position: 0, token: 7n, ...EXCLUSIVE, label: `${'a'.repeat(15)} me`, remaining: 1_000 },
};
const shows = (...all: QueueEntry[]): List =>
  async function* () {
    yield* all;
  };
const fails: List = async function* () {
  yield await Promise.reject(new Error('reset'));
};
const throws: List = () => {
  throw new Error('at once');
};

/** A quorum of nodes that list and evict as they are told to. */
function scene(lists: readonly List[], evict: readonly Backend['evict'][] = []) {
  const clock = manualClock();
  const nodes = lists.map((list, i) =>
    around(memory(), { inspect: list as Backend['inspect'], evict: evict[i] ?? (async () => true) }),
  );
  const lock = quorum(nodes, { clock });
  const listed = async (listing?: Listing): Promise<string[]> => {
    const found: string[] = [];
    for await (const { key, label } of lock.inspect!('', listing)) found.push(`${key} ${label}`);
    return found;
  };
  return { clock, lock, listed };
}

test('a majority of nodes is enough to list, and no fewer', async () => {
  expect(await scene([shows(HELD), shows(HELD), fails]).listed()).toEqual(['k me']);
  expect(await scene([shows(HELD), shows(HELD), throws]).listed(), 'where one throws at once').toEqual(['k me']);
  await expect(scene([shows(HELD), fails, throws]).listed()).rejects.toThrow('1 of 3 nodes listed their locks, 2 are');
});

test('a node may take four seconds for each step of its list, and as many steps as it needs', async () => {
  for (const [ms, heard] of [
    [3_999, true],
    [4_001, false],
  ] as const) {
    const slow: List = async function* (_, { progress }) {
      const pause = () => new Promise<void>((resolve) => clock.after(ms, resolve));
      for (let step = 1; step <= 3; step++) {
        await pause();
        progress!(step);
      }
      yield HELD;
    };
    const { clock, listed } = scene([slow, slow, fails]);
    const list = outcomeOf(listed());
    await clock.advance(3 * 4_100);
    expect(list.value, `with ${ms} ms`).toEqual(heard ? ['k me'] : undefined);
  }
});

test('who lists is told as many keys as the node that has come furthest', async () => {
  const counting = (...counts: number[]): List =>
    async function* (_, { progress }) {
      for (const count of counts) {
        await Promise.resolve();
        progress!(count);
      }
      yield HELD;
    };
  const told: number[] = [];
  await scene([counting(0, 3), counting(0, 1, 5, 2)]).listed({ progress: (looked) => told.push(looked) });
  expect(told).toEqual(told.toSorted((a, b) => a - b));
  expect([told[0], told.at(-1)]).toEqual([0, 5]);
  await expect(scene([counting(1), counting(1)]).listed(), 'or nobody is').resolves.toEqual(['k me']);
});

test('nodes are asked for one key or for all that begin so, as the caller is', async () => {
  const asked: unknown[] = [];
  const keeps: List = async function* (prefix, { exact, progress }) {
    asked.push([prefix, exact]);
    progress!(1);
    yield HELD;
  };
  const { lock, listed } = scene([keeps, keeps]);
  await listed();
  await listed({ exact: true });
  await lock.evict!('k', 7n);
  expect(asked).toEqual(
    [
      ['', false],
      ['', true],
      ['k', true],
    ].flatMap((each) => [each, each]),
  );
});

const yes: Backend['evict'] = async () => true;
const no: Backend['evict'] = async () => false;
const reset: Backend['evict'] = async () => {
  throw new Error('reset');
};

test.each([
  ['every node', [yes, yes, yes], true],
  ['a majority', [yes, yes, no], true],
  ['a minority', [yes, no, no], false],
  ['no majority, whatever the one says that does not answer', [no, no, reset], false],
])('a hold is evicted by %s: it is freed where a majority is', async (_, evict, freed) => {
  const { lock } = scene([shows(HELD), shows(HELD), shows(HELD)], evict);
  expect(await lock.evict!('k', 7n)).toBe(freed);
});

test.each([
  ['one reply of a majority is lost', [yes, reset, no]],
  ['one node evicted it, and the others do not answer', [yes, reset, reset]],
  ['no node answers', [reset, reset, reset]],
])('whether a hold was evicted is unknown where %s', async (_, evict) => {
  const { lock } = scene([shows(HELD), shows(HELD), shows(HELD)], evict);
  const outcome = lock.evict!('k', 7n);
  await expect(outcome, 'a no would say that the holder goes on').rejects.toThrow('too few nodes said whether');
});

test('each node is told the number that it has given itself, and one that has none is not asked', async () => {
  const asked: unknown[] = [];
  const evict = [0, 1, 2].map((i) => async (key: string, token: bigint) => asked.push([i, key, token]) > 0);
  const { lock } = scene([shows(HELD), shows({ ...HELD, token: 9n }), shows()], evict as Backend['evict'][]);
  expect(await lock.evict!('k', 7n)).toBe(true);
  expect(asked).toEqual([
    [0, 'k', 7n],
    [1, 'k', 9n],
  ]);
  const one = scene([shows(HELD), shows(HELD), shows()], [yes, no, yes]);
  expect(await one.lock.evict!('k', 7n), 'of two votes one').toBe(false);
});

test('what is not there under this key and number is not evicted', async () => {
  for (const [key, token] of [
    ['k', 8n],
    ['kk', 7n],
  ] as const) {
    const { lock } = scene([shows(HELD), shows(HELD)]);
    expect(await lock.evict!(key, token)).toBe(false);
  }
});
