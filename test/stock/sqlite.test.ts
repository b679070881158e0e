import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
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
