/** How the nodes of a quorum watch a hold, so that a holder that was evicted hears of it before its next renewal. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { expect, test } from 'vitest';
import { around } from '../../../products/testing/around.ts';
import { manualClock } from '../../../products/testing/index.ts';
import { memory } from '../../../src/backends/memory.ts';
import { quorum } from '../../../src/backends/quorum/index.ts';
import type { Backend, Claim } from '../../../src/core/contract/backend.ts';
import { createLocks } from '../../../src/index.ts';
import { claim } from './nodes.ts';
import { outcomeOf } from './scripted.ts';

type WatchHold = NonNullable<Backend['watchHold']>;

interface Watched {
  readonly claim: Claim;
  readonly wake: () => void;
  readonly age: number;
}

/** A hold at so many nodes, which note how they watch it. `others` are nodes that do something else when they are to watch, or cannot. */
async function scene(count: number, others: Readonly<Record<number, WatchHold | undefined>> = {}) {
  const ids: string[] = [];
  const watches: Watched[] = [];
  const ended: number[] = [];
  const engines = Array.from({ length: count }, () => memory());
  const nodes = engines.map((node, i) => {
    const attempt: Backend['attempt'] = (asked) => {
      ids[i] = asked.id;
      return node.attempt(asked);
    };
    const watchHold: WatchHold = (claim, wake, age) => {
      watches[i] = { claim, wake, age };
      return { [Symbol.asyncDispose]: async () => void ended.push(i) };
    };
    return around(node, { attempt, watchHold: i in others ? (others[i] as WatchHold) : watchHold });
  });
  const lock = quorum(nodes);
  const mine = claim();
  await lock.attempt(mine);
  let wakes = 0;
  const watch = await lock.watchHold!(mine, () => void wakes++, 40);
  const report = (...from: number[]): number => {
    for (const i of from) watches[i]!.wake();
    return wakes;
  };
  /** A node loses its vote, and gives another one after a renewal. */
  const mended = async (i: number): Promise<void> => {
    await engines[i]!.release({ key: mine.key, id: ids[i]! });
    await lock.renew([mine]);
    await new Promise(setImmediate);
  };
  return { ids, watches, ended, watch, report, mended };
}

test('a quorum watches holds where a node can, and does not say so where none can', () => {
  const can = memory();
  const cannot = () => around(memory(), { watchHold: undefined as never });
  expect(quorum([cannot(), can, cannot()]).watchHold).toBeTypeOf('function');
  expect(quorum([cannot(), cannot()]).watchHold).toBeUndefined();
});

test('each node watches a hold under the id by which it knows it, and is told how old the last word of it is', async () => {
  const { ids, watches } = await scene(3);
  expect(watches.map((each) => [each.claim.id, each.age])).toEqual(ids.map((id) => [id, 40]));
});

test.each([
  [2, 1],
  [3, 2],
  [4, 2],
  [5, 3],
])('of %i nodes %i report a change before the hold is looked at: then those without one are no majority', async (count, enough) => {
  const { report } = await scene(count);
  const first = [...Array(enough).keys()];
  for (const i of first.slice(0, -1)) expect(report(i, i), `node ${i + 1}, twice`).toBe(0);
  expect(report(enough - 1)).toBe(1);
});

test('once the hold was looked at, as many nodes report again before the next look', async () => {
  const { report } = await scene(3);
  expect([report(0), report(1), report(1), report(2), report(2), report(0)]).toEqual([0, 1, 1, 2, 2, 3]);
});

test('a node that lost its vote and gave another one watches that one, and a report of the lost one does not count', async () => {
  const { ids, watches, ended, watch, report, mended } = await scene(3);
  const lost = watches.slice(0, 2);
  report(0);
  for (const i of [0, 1]) await mended(i);
  expect(ids.slice(0, 2)).not.toEqual(lost.map((each) => each.claim.id));
  expect(watches.map((each) => each.claim.id)).toEqual(ids);
  expect(ended).toEqual([0, 1]);
  for (const { wake } of lost) wake();
  expect([report(2), report(1)], 'the second of the new votes').toEqual([0, 1]);
  await watch[Symbol.asyncDispose]();
  expect(ended).toEqual([0, 1, 0, 1, 2]);
  await mended(2);
  expect(watches[2]!.claim.id, 'nobody watches any more').not.toBe(ids[2]);
});

test('the vote of a node is watched in no context of whoever renews', async () => {
  const context = new AsyncLocalStorage<string>();
  const seen: (string | undefined)[] = [];
  const sees: WatchHold = () => {
    seen.push(context.getStore());
    return { [Symbol.asyncDispose]: () => Promise.reject(new Error('reset')) };
  };
  const { mended } = await scene(3, { 0: sees });
  await context.run('a caller', () => mended(0));
  expect(seen).toEqual([undefined, undefined]);
});

test('a node that cannot watch, or fails to, keeps the others from nothing', async () => {
  const { report, watch, ended } = await scene(5, {
    0: undefined,
    1: () => {
      throw new Error('at once');
    },
    2: () => Promise.reject(new Error('reset')),
  });
  expect(report(3, 4), 'two of five').toBe(0);
  await watch[Symbol.asyncDispose]();
  expect(ended).toEqual([3, 4]);
});

test('the end of a watch is one at each node: it waits for all, and for none that fails', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { watch, ended } = await scene(3, {
    0: () => ({ [Symbol.asyncDispose]: () => Promise.reject(new Error('reset')) }),
    1: async () => ({ [Symbol.asyncDispose]: () => promise }),
  });
  const end = outcomeOf(Promise.resolve(watch[Symbol.asyncDispose]()));
  await new Promise(setImmediate);
  expect(['value' in end, ended], 'while one takes its time').toEqual([false, [2]]);
  resolve();
  await new Promise(setImmediate);
  expect(['value' in end, end.error]).toEqual([true, undefined]);
});

test('a holder that is evicted at a majority of the nodes is told at once, and one that a minority evicted goes on', async () => {
  const clock = manualClock();
  const nodes = [1, 2, 3].map(() => memory({ clock }));
  const locks = createLocks(quorum(nodes, { clock }), { clock });
  const acquiring = locks.mutex('k').acquire({ ttl: 30_000 });
  await clock.advance(0);
  const lease = await acquiring;
  await clock.advance(1_000);
  const evictAt = async (node: Backend): Promise<void> => {
    for await (const { token } of node.inspect!('k')) await node.evict!('k', token);
    await clock.advance(1);
  };
  await evictAt(nodes[0]!);
  expect(lease.held, 'two nodes have it').toBe(true);
  await evictAt(nodes[1]!);
  expect(lease.held, 'one node has it').toBe(false);
  await Promise.all([locks.close(), clock.advance(1_000)]);
});

test('a holder that was evicted before its watches were set learns of it long before its next renewal, although a node hangs', async () => {
  const clock = manualClock();
  const nodes = [1, 2, 3].map(() => memory({ clock }));
  const hanging = around(nodes[2]!, { watchHold: () => new Promise(() => {}) });
  let watching = 0;
  let ended = 0;
  const slow = nodes.slice(0, 2).map((node) => {
    const watchHold: WatchHold = async () => {
      watching++;
      for await (const { token } of node.inspect!('k')) await node.evict!('k', token);
      return { [Symbol.asyncDispose]: async () => void ended++ };
    };
    return around(node, { watchHold });
  });
  const locks = createLocks(quorum([...slow, hanging], { clock }), { clock });
  const acquiring = locks.mutex('k').acquire({ ttl: 60_000 });
  await clock.advance(0);
  const lease = await acquiring;
  await clock.advance(1_000);
  expect([watching, lease.held]).toEqual([2, true]);
  await clock.advance(5_000);
  expect(lease.held, 'a majority has evicted it').toBe(false);
  expect(ended, 'the watches that ended with the hold').toBe(2);
  await Promise.all([locks.close(), clock.advance(1_000)]);
});
