import { expect, test } from 'vitest';
import { memory } from '../../../src/backends/memory.ts';
import { quorum } from '../../../src/backends/quorum/index.ts';
import { claim, holders, told } from './nodes.ts';

test('a claim that is given back while it is asked for again leaves nothing', async () => {
  const nodes = [memory(), memory(), memory()];
  const lock = quorum(nodes);
  const forgotten = claim();
  await lock.attempt(forgotten);
  for (const node of nodes) for await (const { key, ticket } of node.inspect!('')) await node.evict!(key, ticket);
  const again = lock.attempt(forgotten);
  await lock.release(forgotten);
  await expect(again).rejects.toThrow('given back');
  expect(await Promise.all(nodes.map((node) => holders(node)))).toEqual([0, 0, 0]);
});

test('a node that throws at a renewal instead of rejecting is one that did not answer', async () => {
  const throwing = memory();
  const lock = quorum([memory(), memory(), throwing]);
  const held = claim();
  await lock.attempt(held);
  throwing.renew = () => {
    throw new Error('thrown at once');
  };
  expect(await lock.renew([held])).toEqual([{ validFor: 30_000 }]);
});

test('a minority of nodes that never answers costs no time, and a hold outlives the loss of its votes one by one', async () => {
  const nodes = [1, 2, 3, 4, 5].map(() => memory());
  const hung = [memory(), memory()].map((node) => told(node, () => new Promise(() => {})));
  const lock = quorum([...hung, ...nodes.slice(2)]);
  const began = performance.now();
  expect((await lock.attempt(claim({ key: 'other' }))).granted).toBe(true);
  expect(performance.now() - began).toBeLessThan(200);
  await lock.close();

  const whole = quorum(nodes);
  const held = claim();
  const { granted } = await whole.attempt(held);
  expect(granted).toBe(true);
  for (const node of nodes) {
    for await (const { key, ticket } of node.inspect!('k')) await node.evict!(key, ticket);
    expect(await whole.renew([held])).toEqual([{ validFor: 30_000 }]);
    await expect.poll(() => holders(node, 'k')).toBe(1);
  }
});

test('a hold is gone when a majority has lost it', async () => {
  const nodes = [memory(), memory(), memory()];
  const lock = quorum(nodes);
  const held = claim();
  await lock.attempt(held);
  for (const node of nodes.slice(1))
    for await (const { key, ticket } of node.inspect!('')) await node.evict!(key, ticket);
  expect(await lock.renew([held])).toEqual(['gone']);
});
