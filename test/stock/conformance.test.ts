import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  createStock,
  type Product,
  type Stock,
  type StockErrorCode,
  type StockStore,
} from '../../products/stock/index.ts';
import { homeOf } from '../../products/stock/layout.ts';
import { memory } from '../../src/backends/memory.ts';
import { createLocks, type Locks } from '../../src/index.ts';
import { describeOn } from '../kit/suite.ts';
import { until } from '../kit/wait.ts';
import { madeAnew } from './made-anew.ts';
import { SUBJECTS } from './stores.ts';

const refused = (code: StockErrorCode, more: object = {}) => expect.objectContaining({ code, ...more });

for (const { name, part, open } of SUBJECTS) {
  describeOn(part, `stock on ${name}`, () => {
    const stack = new AsyncDisposableStack();
    const backend = memory();
    let store: StockStore;
    let locks: Locks;
    let stock: Stock;
    let last = 0;
    const fresh = () => `product ${++last}: {a}/*%é`;

    beforeAll(async () => {
      store = await open(stack);
      locks = stack.use(createLocks(backend));
      stock = createStock(store, { locks, timeout: '1m' }); // a thousand calls at once stand in line for a connection
    });
    afterAll(() => stack.disposeAsync());

    const right = async (product: Product) => {
      const audit = await product.audit();
      expect(audit.right, JSON.stringify(audit)).toBe(true);
      return audit;
    };

    test('a product is made once, kept with its layout, and forgotten when it is removed', async () => {
      const product = fresh();
      await expect(stock.open(product)).rejects.toThrow(refused('STOCK_UNKNOWN'));
      await stock.create(product, { units: 100, segments: 4, reserve: 0.25 });
      await expect(stock.create(product, { units: 1 })).rejects.toThrow(refused('STOCK_EXISTS'));
      const opened = await createStock(store).open(product);
      expect(await opened.levels()).toEqual({ reserve: 25, segments: [19, 19, 19, 18], reserved: 0, sold: 0 });
      await stock.remove(product);
      await expect(stock.open(product)).rejects.toThrow(refused('STOCK_UNKNOWN'));
      expect((await (await stock.create(product, { units: 3, segments: 1 })).levels()).sold).toBe(0);
    });

    madeAnew(() => store);

    test('an audit reads many requests portion by portion, and is right also when somebody buys meanwhile', async () => {
      const product = await stock.create(fresh(), { units: 2_000, segments: 1, reserve: 0 });
      await Promise.all(Array.from({ length: 1_150 }, (_, i) => product.take({ buyer: `buyer ${i}` })));
      const kept = await Promise.all([1, 2].map((units) => product.reserve({ units })));
      let portions = 0;
      const watched: StockStore = {
        ...store,
        async step(address, cell, steps) {
          const replies = await store.step(address, cell, steps);
          if (cell === 0 && steps[0]!.op === 'tally' && ++portions === 1) await product.confirm(kept[0]!.ref);
          return replies;
        },
      };
      const audit = await (await createStock(watched).open(product.name)).audit();
      expect(audit).toMatchObject({ right: true, put: 2_000, segments: 847 });
      if (store.name === 'memory') return; // reads all at once
      expect(audit).toMatchObject({ sold: 1_151, reserved: 2 });
      expect(portions, 'read anew').toBeGreaterThanOrEqual(3);
      await stock.remove(product.name);
    });

    test('who finds a product missing, there, or closed is told which one, where, and what to do', async () => {
      const name = fresh();
      const named = JSON.stringify(name);
      await expect(stock.open(name)).rejects.toThrow(`${named} is not on ${store.name}: create() it first`);
      const product = await stock.create(name, { units: 1, segments: 1 });
      const again = stock.create(name, { units: 1 });
      await expect(again).rejects.toThrow(new RegExp(`is on ${store.name} already .*: open\\(\\) it`));
      await expect(again).rejects.toMatchObject({ message: expect.stringContaining(named), product: name });
      await product.closeRestocking();
      const closed = product.restock(1);
      await expect(closed).rejects.toThrow(`restocking of ${named} was closed for good`);
    });

    test('every unit is sold, whoever asks, and not one more; a crowd at once', async () => {
      const product = await stock.create(fresh(), { units: 40, segments: 5 });
      const buyers = Array.from({ length: 60 }, (_, i) => product.take({ buyer: `buyer ${i}` }));
      const outcomes = await Promise.allSettled(buyers);
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(40);
      for (const outcome of outcomes) {
        if (outcome.status === 'rejected') expect(outcome.reason).toEqual(refused('STOCK_SOLD_OUT'));
      }
      expect(await right(product)).toMatchObject({ put: 40, sold: 40, segments: 0, reserve: 0, transit: 0 });
    });

    test('several units come together from wherever they are, and all or none are taken', async () => {
      const product = await stock.create(fresh(), { units: 12, segments: 4, reserve: 0.5 });
      await expect(product.take({ units: 13, buyer: 'greedy' })).rejects.toThrow(refused('STOCK_SOLD_OUT'));
      expect((await right(product)).sold).toBe(0);
      expect(await product.take({ units: 12, buyer: 'whole' })).toMatchObject({ units: 12, repeated: false });
      expect((await right(product)).sold).toBe(12);
    });

    test('without buyer and request, segments take turns', async () => {
      const product = await stock.create(fresh(), { units: 6, segments: 3, reserve: 0 });
      const segments = [];
      for (let i = 0; i < 6; i++) segments.push((await product.take()).segment);
      expect(segments).toEqual([0, 1, 2, 0, 1, 2]);
    });

    test('a reservation is confirmed or cancelled, once and for all', async () => {
      const product = await stock.create(fresh(), { units: 2, segments: 2 });
      const kept = await product.reserve({ buyer: 'a', request: 'first' });
      const other = await product.reserve({ buyer: 'b' });
      await expect(product.reserve({ buyer: 'c' })).rejects.toThrow(refused('STOCK_SOLD_OUT', { final: false }));
      await product.confirm(kept.ref);
      await product.confirm(kept.ref);
      await expect(product.cancel(kept.ref)).rejects.toThrow(refused('STOCK_CONFIRMED'));
      await product.cancel(other.ref);
      await product.cancel(other.ref);
      await expect(product.confirm(other.ref)).rejects.toThrow(refused('STOCK_CANCELLED'));
      await expect(product.confirm(other.ref.replace(/r:.*/s, 'r:nobody'))).rejects.toThrow(refused('STOCK_UNKNOWN'));
      await expect(product.confirm('nonsense')).rejects.toThrow(refused('STOCK_INVALID'));
      expect(await right(product)).toMatchObject({ sold: 1, reserved: 0 });
      await product.take({ buyer: 'c' });
    });

    test('what was not paid in time comes back, and can be sold', async () => {
      const product = await stock.create(fresh(), { units: 3, segments: 3 });
      const kept = await product.reserve({ units: 3, buyer: 'slow', ttl: 2_000 });
      expect(kept.remaining).toBeGreaterThan(0);
      await expect(product.take({ buyer: 'next' })).rejects.toThrow(refused('STOCK_SOLD_OUT', { final: false }));
      await until('the units are back', () =>
        product.take({ units: 3, buyer: 'next' }).then(
          () => true,
          () => false,
        ),
      );
      await expect(product.confirm(kept.ref)).rejects.toThrow(refused('STOCK_EXPIRED'));
      expect(await right(product)).toMatchObject({ sold: 3, reserved: 0 });
    });

    test('what was paid in time stays sold when that time is over, and what was cancelled comes back once', async () => {
      const product = await stock.create(fresh(), { units: 4, segments: 1, reserve: 0 });
      const order = { units: 2, buyer: 'a', ttl: 1_000 };
      const [paid, cancelled] = [await product.reserve(order), await product.reserve(order)];
      await product.confirm(paid.ref);
      await product.cancel(cancelled.ref);
      await sleep(1_050);
      expect(await right(product)).toMatchObject({ sold: 2, reserved: 0, segments: 2 });
      await product.take({ units: 2, buyer: 'b' });
      await expect(product.take({ buyer: 'c' })).rejects.toThrow(refused('STOCK_SOLD_OUT'));
      expect(await right(product)).toMatchObject({ sold: 4, reserved: 0 });
    });

    test('a request that is repeated is done once; its id is for nothing else', async () => {
      const product = await stock.create(fresh(), { units: 10, segments: 3 });
      const order = { buyer: 'a', request: 'r', units: 2 };
      const first = await product.reserve(order);
      const again = await Promise.all([product.reserve(order), product.reserve(order)]);
      expect(again.map(({ ref, repeated }) => ({ ref, repeated }))).toEqual(
        again.map(() => ({ ref: first.ref, repeated: true })),
      );
      await expect(product.reserve({ ...order, units: 3 })).rejects.toThrow(refused('STOCK_REQUEST_REUSED'));
      await expect(product.take(order)).rejects.toThrow(refused('STOCK_REQUEST_REUSED'));
      await product.confirm(first.ref);
      expect(await product.take(order)).toMatchObject({ repeated: true, remaining: 0 });
      expect((await right(product)).sold).toBe(2);
    });

    test('nobody gets more than the limit, however the orders come, also across a resize', async () => {
      const product = await stock.create(fresh(), { units: 50, segments: 2, limit: 3 });
      const crowd = await Promise.allSettled(Array.from({ length: 6 }, () => product.take({ buyer: 'fan' })));
      expect(crowd.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
      for (const segments of [9, 1, 6]) {
        await product.resize(segments);
        await expect(product.take({ buyer: 'fan' })).rejects.toThrow(refused('STOCK_LIMIT'));
      }
      const kept = await product.reserve({ buyer: 'other', units: 3 });
      await product.resize(3);
      await expect(product.take({ buyer: 'other' })).rejects.toThrow(refused('STOCK_LIMIT'));
      await product.cancel(kept.ref);
      await product.take({ buyer: 'other' });
      await right(product);
    });

    test('a request is found again after the number of segments has changed', async () => {
      const product = await stock.create(fresh(), { units: 30, segments: 1 });
      const orders = Array.from({ length: 8 }, (_, i) => ({ buyer: `b${i}`, request: 'once' }));
      const first = await Promise.all(orders.map((order) => product.take(order)));
      await product.resize(7);
      const again = await Promise.all(orders.map((order) => product.take(order)));
      expect(again.map(({ ref }) => ref)).toEqual(first.map(({ ref }) => ref));
      expect((await right(product)).sold).toBe(8);
    });

    test('segments that another process added are known here: what was reserved there is confirmed, and they count', async () => {
      const product = await stock.create(fresh(), { units: 40, segments: 1, reserve: 0 });
      const [paid, shown] = [await createStock(store).open(product.name), await createStock(store).open(product.name)];
      await product.resize(5);
      const kept = await Promise.all(Array.from({ length: 5 }, () => product.reserve()));
      expect(new Set(kept.map(({ segment }) => segment)).size).toBe(5);
      for (const { ref } of kept.reverse()) await paid.confirm(ref);
      expect(await shown.levels()).toEqual(await product.levels());
      await expect(paid.confirm(kept[0]!.ref.replace(/^\d+/, '77'))).rejects.toThrow(refused('STOCK_INVALID'));
    });

    test('segments come and go while buyers buy, and not a unit is lost or made', async () => {
      const product = await stock.create(fresh(), { units: 60, segments: 3 });
      const elsewhere = await createStock(store).open((await stock.open(product.name)).name); // with an old layout
      const sizes = (async () => {
        for (const size of [8, 2, 5]) await product.resize(size);
      })();
      const buyers = Array.from({ length: 70 }, (_, i) =>
        (i % 2 ? product : elsewhere).take({ buyer: `buyer ${i}` }).then(
          () => 1,
          (error: { code?: string }) => {
            if (error.code !== 'STOCK_SOLD_OUT') throw error;
            return 0;
          },
        ),
      );
      const sold = (await Promise.all(buyers)).reduce<number>((sum, units) => sum + units, 0);
      await sizes;
      expect(sold).toBe(60);
      expect(await right(product)).toMatchObject({ sold: 60 });
    });

    test('restocked units are sold; after closing, sold out is final when nothing is reserved', async () => {
      const product = await stock.create(fresh(), { units: 1, segments: 2 });
      const other = await stock.open(product.name);
      await product.take();
      await expect(product.take()).rejects.toThrow(refused('STOCK_SOLD_OUT', { final: false }));
      await product.restock(2, { request: 'delivery 1' });
      await product.restock(2, { request: 'delivery 1' });
      await expect(product.restock(3, { request: 'delivery 1' })).rejects.toThrow(refused('STOCK_REQUEST_REUSED'));
      await product.take();
      const kept = await product.reserve();
      await product.closeRestocking();
      await expect(other.restock(1)).rejects.toThrow(refused('STOCK_CLOSED'));
      await other.restock(2, { request: 'delivery 1' }); // was done before
      await expect(product.take()).rejects.toThrow(refused('STOCK_SOLD_OUT', { final: false }));
      await product.confirm(kept.ref);
      await expect(other.take()).rejects.toThrow(refused('STOCK_SOLD_OUT', { final: true }));
      expect(await right(product)).toMatchObject({ put: 3, sold: 3 });
    });

    test('under the lock: one at a time in a segment, confirmed after the work, given back when it throws', async () => {
      const product = await stock.create(fresh(), { units: 3, segments: 1 });
      let inside = 0;
      let most = 0;
      const tokens: bigint[] = [];
      const sell = (buyer: string) =>
        product.sell({ buyer, request: 'r' }, async ({ token }) => {
          most = Math.max(most, ++inside);
          tokens.push(token);
          await sleep(5);
          inside--;
          if (buyer === 'unlucky') throw new Error('card refused');
          return buyer;
        });
      const outcomes = await Promise.allSettled(['a', 'unlucky', 'b', 'c', 'd'].map(sell));
      expect(most).toBe(1);
      expect(tokens).toEqual(tokens.toSorted((a, b) => (a < b ? -1 : 1)));
      expect(outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value.result : 'no'))).toEqual([
        'a',
        'no',
        'b',
        'c',
        'no',
      ]);
      expect(await sell('a'), 'done before: not done again').toMatchObject({ repeated: true, remaining: 0 });
      expect(await right(product)).toMatchObject({ sold: 3, reserved: 0 });
    });

    test('a request that is being sold is not sold a second time beside it, also after its buyer has moved', async () => {
      const product = await stock.create(fresh(), { units: 9, segments: 1 });
      const elsewhere = await createStock(store, { locks }).open(product.name);
      const buyer = ['a', 'b', 'c', 'd', 'e', 'f'].find((name) => homeOf(name, 6) !== 0)!;
      const [begun, paid] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const first = product.sell({ buyer, request: 'r' }, () => {
        begun.resolve();
        return paid.promise;
      });
      await begun.promise;
      await elsewhere.resize(6);
      let twice = false;
      const second = elsewhere.sell({ buyer, request: 'r' }, () => {
        twice = true;
      });
      await Promise.race([second, sleep(100)]);
      expect(twice, 'paid for twice').toBe(false);
      paid.resolve();
      expect(await first).toMatchObject({ repeated: false });
      expect(await second).toMatchObject({ repeated: true, remaining: 0 });
      expect(await right(product)).toMatchObject({ sold: 1, reserved: 0 });
    });

    test('a holder that was robbed of the lock cannot confirm after the next one has begun', async () => {
      const product = await stock.create(fresh(), { units: 5, segments: 1 });
      const begun = Promise.withResolvers<void>();
      const robbed = Promise.withResolvers<void>();
      const stale = product.sell({ buyer: 'stale' }, () => {
        begun.resolve();
        return robbed.promise;
      });
      await begun.promise;
      for await (const { key, held } of locks.inspect()) {
        if (held) await locks.forceRelease(key, { reason: 'test' });
      }
      await createStock(store, { locks: createLocks(backend) })
        .open(product.name)
        .then((other) => other.sell({ buyer: 'next' }, () => {}));
      robbed.resolve();
      await expect(stale).rejects.toThrow(expect.objectContaining({ code: 'LOCK_FENCED' }));
      expect(await right(product)).toMatchObject({ sold: 1, reserved: 1 });
    });

    test('nor when a resize has moved its buyer, and the next one sells the same request', async () => {
      const buyer = ['a', 'b', 'c', 'd', 'e', 'f'].find((name) => homeOf(name, 6) !== 0)!;
      const product = await stock.create(fresh(), { units: 9, segments: 1 });
      const [begun, next] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const stale = product.sell({ buyer, request: 'r' }, () => {
        begun.resolve();
        return next.promise;
      });
      await begun.promise;
      await product.resize(6);
      for await (const { key, held } of locks.inspect()) {
        if (held) await locks.forceRelease(key, { reason: 'test' });
      }
      const sold = await product.sell({ buyer, request: 'r' }, async () => {
        next.resolve();
        const late = stale.catch((error: unknown) => error);
        expect(await late, 'both sell it').toMatchObject({ code: 'LOCK_FENCED' });
        return 'next';
      });
      expect(sold).toMatchObject({ segment: 0, repeated: false, result: 'next' });
      expect(await right(product)).toMatchObject({ sold: 1, reserved: 0 });
    });

    test('the rebalancer fills what runs low, empties what is no longer sold from, merges, and ends', async () => {
      const product = await stock.create(fresh(), { units: 40, segments: 4, reserve: 1 });
      await product.closeRestocking();
      await Promise.all([1, 2].map(() => product.rebalance({ low: 10, batch: 5, every: 10 })));
      expect((await product.levels()).reserve).toBe(0);
      expect((await right(product)).segments).toBe(40);
      await product.take({ units: 36, buyer: 'a' });
      await product.rebalance({ low: 4, batch: 5, every: 10, merge: true });
      const { segments } = await product.levels();
      expect(
        segments.filter((free) => free > 0),
        'the last units are together',
      ).toEqual([4]);
      await right(product);
    });

    test.each([1.1, Number.NaN, '0.5', null])('a share to keep back that is %j is refused', async (reserve) => {
      const options = { units: 1, reserve } as { units: number };
      await expect(stock.create(fresh(), options)).rejects.toThrow(refused('STOCK_INVALID'));
    });

    test.each([
      [{ units: 0 }],
      [{ units: 1.5 }],
      [{ units: Number.NaN }],
      [{ buyer: '' }],
      [{ buyer: 'x'.repeat(129) }],
      [{ request: '\ud800' }],
      [{ ttl: -1 }],
      [{ unit: 1 }],
    ])('bad input is refused before anything is sent: %j', async (order) => {
      const product = await stock.create(fresh(), { units: 1, segments: 1 });
      await expect(product.reserve(order as object)).rejects.toThrow(refused('STOCK_INVALID'));
      expect(await product.levels()).toMatchObject({ reserved: 0 });
    });
  });
}
