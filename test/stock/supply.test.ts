import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createStock, memoryStock, type StockErrorCode, type StockStore } from '../../products/stock/index.ts';
import { homeOf } from '../../products/stock/layout.ts';
import { manualClock } from '../../products/testing/index.ts';
import { memory as engineOf } from '../../src/backends/memory.ts';
import { createLocks } from '../../src/index.ts';

const buyers = Array.from({ length: 100 }, (_, i) => `b${i}`);

const refused = (code: StockErrorCode, more: object = {}) => expect.objectContaining({ code, ...more });

/** Counts what is asked of the store. */
async function opened(options: { units: number; segments: number; reserve?: number }) {
  const memory = memoryStock();
  const asked = { steps: 0, fetches: 0 };
  const store: StockStore = {
    ...memory,
    step(product, cell, steps) {
      asked.steps++;
      asked.fetches += steps.filter(({ op }) => op === 'send').length;
      return memory.step(product, cell, steps);
    },
  };
  return { product: await createStock(store).create('phone', options), asked };
}

test('a crowd before an empty segment fetches together, and everyone gets what was brought', async () => {
  const { product, asked } = await opened({ units: 400, segments: 1, reserve: 1 });
  const crowd = Array.from({ length: 300 }, (_, i) => product.take({ buyer: `buyer ${i}` }));
  expect((await Promise.all(crowd)).every(({ repeated }) => !repeated)).toBe(true);
  expect(asked.fetches).toBeLessThanOrEqual(6);
  expect(await product.audit()).toMatchObject({ right: true, sold: 300 });
});

test('orders of several sizes at one empty segment: who fits is served, who does not is refused, and nobody hangs', async () => {
  const { product } = await opened({ units: 12, segments: 3, reserve: 0.5 });
  const sizes = [1, 20, 2, 13, 3];
  const outcomes = await Promise.allSettled(sizes.map((units) => product.take({ buyer: 'same', units })));
  expect(outcomes.map(({ status }) => status === 'fulfilled')).toEqual([true, false, true, false, true]);
  expect(await product.audit()).toMatchObject({ right: true, sold: 6 });
});

test('a unit that comes back while another one is sold, between two looks, is there for whoever wants one', async () => {
  const memory = memoryStock();
  const [of0, of1, of2] = [0, 1, 2].map((home) => buyers.find((buyer) => homeOf(buyer, 3) === home)!);
  const others = await createStock(memory).create('phone', { units: 2, segments: 3, reserve: 0 });
  const kept = await others.reserve({ buyer: of0 });
  let looks = 0;
  const store: StockStore = {
    ...memory,
    async step(product, cell, steps) {
      // Segment 0 has just been seen empty, for the second time.
      if (cell === 1 && steps[0]?.op === 'look' && ++looks === 2) {
        await others.cancel(kept.ref);
        await others.take({ buyer: of1 });
      }
      return memory.step(product, cell, steps);
    },
  };
  const product = await createStock(store).open('phone');
  const [many, one] = await Promise.allSettled([2, 1].map((units) => product.take({ buyer: of2, units })));
  expect(many).toMatchObject({ status: 'rejected', reason: { code: 'STOCK_SOLD_OUT' } });
  expect(one, 'at every moment there was one').toMatchObject({ status: 'fulfilled' });
});

test('who looks for units after a resize sees all segments, also behind somebody who began before it', async () => {
  const memory = memoryStock();
  const [, of1] = [0, 1].map((home) => buyers.find((buyer) => homeOf(buyer, 2) === home)!);
  const others = await createStock(memory).create('phone', { units: 2, segments: 1, reserve: 0 });
  const gate = Promise.withResolvers<void>();
  const fetching = Promise.withResolvers<void>();
  const store: StockStore = {
    ...memory,
    async step(product, cell, steps) {
      if (steps[0]?.op === 'send') fetching.resolve();
      if (steps[0]?.op === 'look') await gate.promise;
      return memory.step(product, cell, steps);
    },
  };
  const product = await createStock(store).open('phone');
  const before = [product.levels()];
  await turn(); // it looks
  before.push(product.levels());
  await turn(); // it looks next
  await others.resize(2);
  const bought = product.take({ buyer: of1 });
  await fetching.promise;
  await turn(); // nothing is in the reserve: it looks, too
  gate.resolve();
  expect(await bought).toMatchObject({ segment: 1, units: 1 });
  await Promise.all(before);
});

test('a crowd that comes too late costs no more than a few looks', async () => {
  const { product, asked } = await opened({ units: 10, segments: 5 });
  const before = asked.steps;
  const crowd = await Promise.allSettled(
    Array.from({ length: 2_000 }, (_, i) => product.take({ buyer: `buyer ${i}` })),
  );
  expect(crowd.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
  expect(asked.steps - before).toBeLessThan(200);
});

test('when it is sold out for good, a new order is refused here, and an old one is still found', async () => {
  const { product, asked } = await opened({ units: 2, segments: 2 });
  const order = { buyer: 'a', request: 'mine', units: 2 };
  await product.take(order);
  await product.closeRestocking();
  await expect(product.take()).rejects.toThrow(refused('STOCK_SOLD_OUT', { final: true }));
  const before = asked.steps;
  await expect(product.take()).rejects.toThrow(refused('STOCK_SOLD_OUT', { final: true }));
  await expect(product.reserve({ buyer: 'b' })).rejects.toThrow(refused('STOCK_SOLD_OUT', { final: true }));
  expect(asked.steps, 'nothing was asked').toBe(before);
  expect(await product.take(order)).toMatchObject({ repeated: true, units: 2 });
});

test('sold out that is not for good is asked for again by whoever comes later', async () => {
  const { product } = await opened({ units: 1, segments: 2 });
  const kept = await product.reserve();
  await expect(product.take()).rejects.toThrow(refused('STOCK_SOLD_OUT', { final: false }));
  await product.cancel(kept.ref);
  expect(await product.take()).toMatchObject({ units: 1 });
});

test('a rebalancer waits for as long as another process has the work', async () => {
  const clock = manualClock();
  const engine = engineOf({ clock });
  const other = await createLocks(engine, { clock }).mutex('stock:phone:rebalancer').acquire();
  const locks = createLocks(engine, { clock });
  const stop = new AbortController();
  const product = await createStock(memoryStock(), { locks }).create('phone', { units: 4, segments: 2 });
  const rebalancing = product.rebalance({ signal: stop.signal }).then(() => 'over');
  await clock.advance(3_600_000);
  expect(await Promise.race([rebalancing, 'waits'])).toBe('waits');
  stop.abort();
  expect(await rebalancing).toBe('over');
  await other.release();
});
