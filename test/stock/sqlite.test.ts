import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { expect, test, vi } from 'vitest';
import { createStock, sqliteStock } from '../../products/stock/index.ts';
import { temporaryFolder } from '../kit/folder.ts';

const STOCK = JSON.stringify(new URL('../../products/stock/index.ts', import.meta.url).href);

test('SQLite, of which Node 22 warns, is loaded for those who sell in a file and for no one else', async () => {
  const loads = async (more: string): Promise<string> => {
    const program = `const { sqliteStock } = await import(${STOCK});
      ${more}
      console.log(process.moduleLoadList.some((name) => /sqlite/.test(name)));`;
    const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', program];
    return (await promisify(execFile)(process.execPath, args, { timeout: 60_000 })).stdout.trim();
  };
  expect(await loads('')).toBe('false');
  expect(await loads("sqliteStock({ path: ':memory:' }).close();")).toBe('true');
});

test('a layout that a later version wrote is refused, and not taken for something else', async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, 'stock.db');
  using store = sqliteStock({ path });
  using database = new DatabaseSync(path);
  database.prepare("INSERT INTO holdfast_stock_layouts VALUES ('phone', 2, ?)").run('{"v":2}');
  await expect(createStock(store).open('phone')).rejects.toMatchObject({ code: 'STOCK_INVALID' });
});

test('a segment that a later version wrote is refused, as on Redis, and nothing of it is sold', async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, 'stock.db');
  using store = sqliteStock({ path });
  using database = new DatabaseSync(path);
  const phones = await createStock(store).create('phone', { units: 5, segments: 1, reserve: 0 });
  const states = () => database.prepare('SELECT state FROM holdfast_stock_cells ORDER BY cell').all();
  database.exec(`UPDATE holdfast_stock_cells SET state = replace(state, '"v":1', '"v":2')`);
  const before = states();
  await expect(phones.take()).rejects.toMatchObject({ code: 'STOCK_INVALID' });
  expect(states()).toEqual(before);
});

test('what is sold in a file is on disk when it is answered, so that no power cut takes a sale back', () => {
  using folder = temporaryFolder();
  const { exec } = DatabaseSync.prototype;
  let database: DatabaseSync | undefined;
  using _spy = vi.spyOn(DatabaseSync.prototype, 'exec').mockImplementation(function (this: DatabaseSync, sql) {
    database = this;
    return exec.call(this, sql);
  });
  using _store = sqliteStock({ path: join(folder.path, 'stock.db') });
  const [FULL, mode] = [2, database!.prepare('PRAGMA synchronous').get()];
  expect(mode, 'the log is written to disk only now and then').toEqual({ synchronous: FULL });
});

test('a late resize of a product that is being removed gets the error that the product is gone', async () => {
  using store = sqliteStock({ path: ':memory:' });
  const product = await createStock(store).create('phone', { units: 1_001, segments: 1, reserve: 0 });
  // More than a removal deletes at a time. All have run out before the cells are made again.
  await Promise.all(Array.from({ length: 1_001 }, () => product.reserve({ ttl: 1 })));
  const [reached, removed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const late = await createStock({
    ...store,
    async step(address, cell, steps) {
      if (steps[0]?.op === 'open') {
        reached.resolve();
        await removed.promise;
      }
      return store.step(address, cell, steps);
    },
  }).open('phone');
  const resized = late.resize(2).catch((error: unknown) => error);
  await reached.promise;
  let parts = 0;
  const dying = createStock({
    ...store,
    async clear(address, cell) {
      if (cell === 0 && parts++ > 0) throw new Error('it dies between two parts');
      return store.clear(address, cell);
    },
  });
  await expect(dying.remove('phone')).rejects.toThrow('it dies');
  removed.resolve();
  expect(await resized).toMatchObject({ code: 'STOCK_UNKNOWN' });
});
