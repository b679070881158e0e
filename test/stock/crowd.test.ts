import { expect, test } from 'vitest';
import { createStock, memoryStock, type Product, type StockStore } from '../../src/stock/index.ts';

const NOBODY_KNOWS = new Error('the connection broke');

/** Says how many orders each step to a cell took together. */
async function opened(options: { units: number; segments: number }, broken = false) {
  const memory = memoryStock();
  const crowds: number[] = [];
  const store: StockStore = {
    ...memory,
    async step(product, cell, steps) {
      if (steps[0]?.op === 'take') crowds.push(steps.length);
      const replies = await memory.step(product, cell, steps);
      if (broken && steps[0]?.op === 'take') throw NOBODY_KNOWS;
      return replies;
    },
  };
  return { product: await createStock(store).create('phone', { ...options, reserve: 0 }), crowds };
}

const together = (product: Product, count: number) =>
  Promise.all(Array.from({ length: count }, (_, i) => product.take({ buyer: `buyer ${i}`, units: 1 + (i % 3) })));

test('orders of one moment go in few steps, never too many in one, and each has its own answer', async () => {
  const { product, crowds } = await opened({ units: 1_000, segments: 1 });
  const sold = await together(product, 250);
  expect(crowds).toEqual([100, 100, 50]);
  expect(sold.map(({ units }) => units)).toEqual(sold.map((_, i) => 1 + (i % 3)));
  expect(new Set(sold.map(({ ref }) => ref)).size).toBe(250);
  expect(await product.audit()).toMatchObject({ right: true, sold: 499 });
});

test('each segment has a crowd of its own, and orders that come later go later', async () => {
  const { product, crowds } = await opened({ units: 1_000, segments: 4 });
  await Promise.all(Array.from({ length: 40 }, () => product.take()));
  expect(crowds).toEqual([10, 10, 10, 10]);
  await product.take();
  await product.take();
  expect(crowds.slice(4)).toEqual([1, 1]);
});

test('a step whose outcome nobody knows is that for all in it, and an order that is repeated is done once', async () => {
  const { product } = await opened({ units: 10, segments: 1 }, true);
  const order = (i: number) => product.take({ buyer: `buyer ${i}`, request: 'once' });
  for (const _ of ['first', 'again']) {
    const outcomes = await Promise.allSettled([order(1), order(2), order(3)]);
    expect(outcomes.map((outcome) => outcome.status === 'rejected' && outcome.reason)).toEqual(
      Array(3).fill(NOBODY_KNOWS),
    );
  }
  expect(await product.audit()).toMatchObject({ right: true, sold: 3 });
});
