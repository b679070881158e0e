import { expect, test } from 'vitest';
import { errorOf } from '../../products/stock/errors.ts';
import { createStock, memoryStock, type StockErrorCode, type StockStore } from '../../products/stock/index.ts';
import { memory } from '../../src/backends/memory.ts';
import { createLocks, LockError } from '../../src/index.ts';

test('a rebalancer that brings what a dead one has sent into the reserve does not end before it is in the segments', async () => {
  await using locks = createLocks(memory());
  const store = memoryStock();
  const product = await createStock(store, { locks }).create('phone', { units: 20, segments: 2, reserve: 0 });
  await product.resize(1);
  await product.closeRestocking();
  const died = Promise.withResolvers<void>();
  let dead = false;
  const dying: StockStore = {
    ...store,
    async step(address, cell, steps) {
      if (dead) throw new Error('it is dead');
      const replies = await store.step(address, cell, steps);
      if (steps.some(({ op }) => op === 'send')) {
        dead = true; // the units have left their segment, and are nowhere yet
        died.resolve();
      }
      return replies;
    },
  };
  const stop = new AbortController();
  const doomed = await createStock(dying, { locks }).open('phone');
  const ended = doomed.rebalance({ low: 100, every: 10, signal: stop.signal });
  await died.promise;
  stop.abort();
  await ended;
  await product.rebalance({ low: 100, every: 10 });
  expect(await product.levels(), 'units stay in the reserve').toMatchObject({ reserve: 0, segments: [20, 0] });
});

const busy = (code: StockErrorCode) => errorOf(code, 'phone', ' keeps changing');

test.each<[string, Error]>([
  ['a transaction that others overtook again and again', new LockError('LOCK_TIMEOUT', 'the row changed 20 times')],
  ['a layout that others change again and again', busy('STOCK_BUSY')],
])('a rebalancer goes on after %s', async (_title, trouble) => {
  await using locks = createLocks(memory());
  const store = memoryStock();
  let troubles = 1;
  const troubled: StockStore = {
    ...store,
    async step(address, cell, steps) {
      if (steps.some(({ op }) => op === 'send') && troubles-- > 0) throw trouble;
      return store.step(address, cell, steps);
    },
  };
  const product = await createStock(troubled, { locks }).create('phone', { units: 20, segments: 2, reserve: 1 });
  await product.closeRestocking();
  await product.rebalance({ every: 10 });
  expect(await product.levels()).toMatchObject({ reserve: 0 });
});
