import { expect, test } from 'vitest';
import { createStock, memoryStock, type Product, type StockStore } from '../../products/stock/index.ts';

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

/** A product that had nine numbers of segments, and how many steps asked for what a buyer did before. */
async function resized(limit?: number) {
  const memory = memoryStock();
  const asked = { finds: 0 };
  const store: StockStore = {
    ...memory,
    step(address, cell, steps) {
      if (steps[0]!.op === 'find') asked.finds++;
      return memory.step(address, cell, steps);
    },
  };
  const options = { units: 10_000, segments: 1, reserve: 0, ...(limit ? { limit } : {}) };
  const product = await createStock(store).create('phone', options);
  for (const size of [2, 5, 3, 8, 20, 12, 30, 16]) await product.resize(size);
  const { segments } = await product.levels();
  expect(segments).toHaveLength(30);
  return { product, asked };
}

test('after eight resizes an order that no former segment can know asks none of them', async () => {
  const { product, asked } = await resized();
  for (let i = 0; i < 50; i++) await product.take({ buyer: `buyer ${i}` });
  expect(asked.finds).toBe(0);
});

test.each([undefined, 3])('after eight resizes a crowd asks each former segment once; limit %s', async (limit) => {
  const { product, asked } = await resized(limit);
  const crowd = (round: string) =>
    Promise.all(Array.from({ length: 400 }, (_, i) => product.take({ buyer: `buyer ${i}`, request: round })));
  await crowd('first');
  expect((await crowd('first')).every(({ repeated }) => repeated)).toBe(true);
  await crowd('second');
  expect(asked.finds, 'for 1,200 orders').toBeLessThanOrEqual(120);
});
