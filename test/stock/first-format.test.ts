import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import type { Step } from '../../src/stock/cell.ts';
import { createStock, redisStock, type StockStore, sqliteStock } from '../../src/stock/index.ts';
import { formatLayout } from '../../src/stock/store.ts';
import { temporaryFolder } from '../kit/folder.ts';
import { startRedis } from '../kit/redis.ts';
import { describeOn } from '../kit/suite.ts';
import { ioredisAt } from './stores.ts';

/** As the first version kept it. */
const LAYOUT = { version: 2, servers: 1, epoch: 1, sizes: [2], cells: 2, limit: 0, closed: false };

/** Sells and resizes a product of the first version, then removes it and makes it anew. @param keep writes its layout */
async function goesOn(store: StockStore, keep: (layout: string) => Promise<unknown>, kept: () => Promise<string>) {
  for (const cell of [-1, 0, 1]) {
    const steps: Step[] = [{ op: 'open', epoch: 1 }];
    if (cell >= 0) steps.push({ op: 'put', epoch: 1, id: 'p:', units: 2 });
    await store.step('phone', cell, steps);
  }
  const order = { epoch: 1, id: 'r:a:1', buyer: 'a', units: 1, ttl: 60_000, limit: 0, already: 0, token: '' };
  await store.step('phone', 0, [{ op: 'take', ...order }]);
  await keep(JSON.stringify(LAYOUT));

  const stock = createStock(store);
  const product = await stock.open('phone');
  expect(await product.levels()).toMatchObject({ reserve: 0, segments: [1, 2], reserved: 1 });
  await product.confirm('0.r:a:1');
  expect((await product.take({ buyer: 'b', request: 'r' })).ref).toMatch(/^[01]\.r:b:r$/);
  await product.resize(3);
  expect(JSON.parse(await kept()), 'as the first version reads it').toMatchObject({ servers: 1, sizes: [2, 3] });
  expect(await product.audit()).toMatchObject({ right: true, put: 4, sold: 2 });

  await stock.remove('phone');
  const anew = await stock.create('phone', { units: 9 });
  expect(await anew.audit()).toMatchObject({ right: true, put: 9, sold: 0 });
  await expect(product.take()).rejects.toMatchObject({ code: 'STOCK_UNKNOWN' });
  expect(JSON.parse(await kept()), 'the first version looks for servers, and refuses').not.toHaveProperty('servers');
}

describeOn('redis', 'products of the first version, on Redis', () => {
  test('are sold, resized and removed as before', async () => {
    await using stack = new AsyncDisposableStack();
    const client = ioredisAt(stack.use(await startRedis()).port, stack);
    const key = 'holdfast:stock:{phone}:layout';
    await goesOn(
      redisStock(client),
      (layout) => client.set(key, layout),
      async () => (await client.get(key))!,
    );
  });
});

describeOn('file', 'products of the first version, in a file', () => {
  test('are sold, resized and removed as before', async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, 'stock.db');
    using store = sqliteStock({ path });
    using database = new DatabaseSync(path);
    const insert = database.prepare("INSERT INTO holdfast_stock_layouts VALUES ('phone', 2, ?)");
    const read = database.prepare('SELECT body FROM holdfast_stock_layouts');
    await goesOn(
      store,
      async (layout) => insert.run(layout),
      async () => String(read.get()!.body),
    );
  });

  test('a layout that a later version wrote is refused, and not taken for something else', async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, 'stock.db');
    using store = sqliteStock({ path });
    using database = new DatabaseSync(path);
    database.prepare("INSERT INTO holdfast_stock_layouts VALUES ('phone', 2, ?)").run('{"v":3}');
    await expect(createStock(store).open('phone')).rejects.toMatchObject({ code: 'STOCK_INVALID' });
    const layout = { ...LAYOUT, identity: 'a' };
    expect(JSON.parse(formatLayout(layout)), 'as this version writes it').toMatchObject({
      v: 2,
      over: 1,
      identity: 'a',
    });
  });
});
