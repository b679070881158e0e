import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createStock, isStockError, memoryStock, type Product, type StockStore } from '../../products/stock/index.ts';

/** How a process ends in the middle of something. */
class Crash extends Error {}

/** The store as a process sees it that dies at its nth step: right before the engine does it, or right after. */
function dying(store: StockStore, at: number, done: boolean): StockStore {
  let left = at;
  const guarded = async <T>(act: () => Promise<T>): Promise<T> => {
    left--;
    if (left < 0 || (left === 0 && !done)) throw new Crash();
    const result = await act();
    if (left === 0) throw new Crash();
    return result;
  };
  return {
    ...store,
    layout: (product) => guarded(() => store.layout(product)),
    relayout: (product, was, layout) => guarded(() => store.relayout(product, was, layout)),
    step: (product, cell, steps) => guarded(() => store.step(product, cell, steps)),
  };
}

/** The store as processes see it whose calls arrive in any order. */
function scheduled(store: StockStore, scheduler: fc.Scheduler): StockStore {
  const turn = (label: string) => scheduler.schedule(Promise.resolve(), label);
  return {
    ...store,
    layout: (product) => turn('layout').then(() => store.layout(product)),
    relayout: (product, was, layout) => turn('relayout').then(() => store.relayout(product, was, layout)),
    step: (address, cell, steps) =>
      turn(`${steps.map(({ op }) => op)} at ${cell}`).then(() => store.step(address, cell, steps)),
    clear: (address, cell) => turn(`clear ${cell}`).then(() => store.clear(address, cell)),
  };
}

/** A refusal is an answer. */
function ignored(error: unknown): void {
  if (!isStockError(error)) throw error;
}

type Act = (product: Product, refs: string[]) => Promise<unknown>;

const buyer = fc.integer({ min: 0, max: 5 }).map((i) => `buyer ${i}`);
const units = fc.integer({ min: 1, max: 4 });
const request = fc.option(fc.integer({ min: 0, max: 3 }).map(String), { nil: undefined });
const pick = (refs: string[], n: number): string => refs[n % refs.length] ?? '0.r:none';

const act: fc.Arbitrary<Act> = fc.oneof(
  fc.record({ buyer, units, request }).map(
    (order): Act =>
      async (product, refs) =>
        refs.push((await product.reserve({ ...order, ttl: 100 })).ref),
  ),
  fc.record({ buyer, units, request }).map(
    (order): Act =>
      (product) =>
        product.take(order),
  ),
  fc.nat().map(
    (n): Act =>
      (product, refs) =>
        product.confirm(pick(refs, n)),
  ),
  fc.nat().map(
    (n): Act =>
      (product, refs) =>
        product.cancel(pick(refs, n)),
  ),
  units.map(
    (n): Act =>
      (product) =>
        product.restock(n),
  ),
  fc.integer({ min: 1, max: 5 }).map(
    (n): Act =>
      (product) =>
        product.resize(n),
  ),
);

const history = fc.array(
  fc.record({
    act,
    /** The process that does it dies at this step; 0: it lives. */
    dies: fc.oneof({ weight: 2, arbitrary: fc.constant(0) }, { weight: 3, arbitrary: fc.integer({ min: 1, max: 12 }) }),
    done: fc.boolean(),
    wait: fc.integer({ min: 0, max: 40 }),
  }),
  { minLength: 1, maxLength: 25 },
);

test('whatever happens, and whoever dies between any two steps, every unit is accounted for, and can be sold in the end', async () => {
  await fc.assert(
    fc.asyncProperty(history, fc.integer({ min: 0, max: 12 }), async (events, put) => {
      let now = 1_000_000;
      const store = memoryStock({ now: () => now });
      const keeper = await createStock(store).create('p', { units: put, segments: 3, reserve: 0.4, limit: 6 });
      const refs: string[] = [];
      for (const { act, dies, done, wait } of events) {
        now += wait;
        try {
          const mine = dies === 0 ? keeper : await createStock(dying(store, dies, done)).open('p');
          await act(mine, refs);
        } catch (error) {
          if (!(error instanceof Crash) && !isStockError(error)) throw error;
        }
        const audit = await keeper.audit();
        expect(audit.right, JSON.stringify(audit)).toBe(true);
      }
      now += 1_000;
      const before = await keeper.audit();
      let sold = 0;
      try {
        for (;;) sold += (await keeper.take()).units;
      } catch (error) {
        if (!isStockError(error, 'STOCK_SOLD_OUT')) throw error;
      }
      const after = await keeper.audit();
      expect(sold, 'every unsold unit could be sold').toBe(before.put - before.sold);
      expect(after).toMatchObject({ right: true, sold: after.put, transit: 0, segments: 0, reserve: 0, reserved: 0 });
    }),
    { numRuns: 150 },
  );
});

test('a crowd in several processes, some of which die, never buys more than there is', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 15 }),
      fc.array(fc.record({ dies: fc.integer({ min: 1, max: 10 }), done: fc.boolean() }), {
        minLength: 2,
        maxLength: 20,
      }),
      async (put, buyers) => {
        let now = 1_000_000;
        const store = memoryStock({ now: () => now });
        const keeper = await createStock(store).create('p', { units: put, segments: 4, reserve: 0.5 });
        await Promise.allSettled(
          buyers.map(async ({ dies, done }, i) => {
            const mine = await createStock(dying(store, dies, done)).open('p');
            await mine.reserve({ buyer: `buyer ${i}`, ttl: 100 });
          }),
        );
        const audit = await keeper.audit();
        expect(audit.right, JSON.stringify(audit)).toBe(true);
        now += 1_000;
        for (let i = 0; i < put; i++) await keeper.take();
        await expect(keeper.take()).rejects.toThrow(expect.objectContaining({ code: 'STOCK_SOLD_OUT' }));
      },
    ),
    { numRuns: 100 },
  );
});

test('a product that is made anew between any two steps of others has its own units, all of them, and no others', async () => {
  const step = fc.record({ act, from: fc.integer({ min: 0, max: 2 }) });
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.array(step, { minLength: 1, maxLength: 12 }),
      fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 2, maxLength: 3 }),
      async (scheduler, steps, puts) => {
        const memory = memoryStock({ now: () => 1_000_000 });
        const store = scheduled(memory, scheduler);
        const refs: string[] = [];
        const stock = createStock(store);
        const makers = (async () => {
          for (const [i, units] of puts.entries()) {
            if (i > 0) await stock.remove('p');
            await stock.create('p', { units, segments: 2, reserve: 0.5 }).catch(ignored);
          }
        })();
        const others = [0, 1, 2].map(async (me) => {
          for (const { act, from } of steps) {
            if (from !== me) continue;
            await stock
              .open('p')
              .then((product) => act(product, refs))
              .catch(ignored);
          }
        });
        await scheduler.waitFor(Promise.all([makers, ...others]));
        const product = await createStock(memory).open('p');
        const before = await product.audit();
        expect(before.right, JSON.stringify(before)).toBe(true);
        expect(before.put, 'what it was made with').toBeGreaterThanOrEqual(puts.at(-1)!);
        let sold = 0;
        try {
          for (;;) sold += (await product.take()).units;
        } catch (error) {
          if (!isStockError(error, 'STOCK_SOLD_OUT')) throw error;
        }
        expect(await product.audit()).toMatchObject({ right: true, transit: 0, segments: 0, reserve: 0 });
        expect(sold, 'every unsold unit could be sold').toBe(before.put - before.sold - before.reserved);
      },
    ),
    { numRuns: 150 },
  );
});
