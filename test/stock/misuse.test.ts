import { expect, test } from 'vitest';
import {
  createStock,
  memoryStock,
  type Product,
  type SqlStockOptions,
  type Stock,
  sqliteStock,
  sqlStock,
} from '../../products/stock/index.ts';

test.each<[string, (stock: Stock, product: Product) => Promise<unknown>]>([
  ['a name that is none', (stock) => stock.open('')],
  ['a rebalancer without locks', (_, product) => product.rebalance()],
  ['a ref that is none', (_, product) => product.confirm('')],
  ['no units', (_, product) => product.take({ units: 0 })],
  ['null units', (_, product) => product.take({ units: null as never })],
  ['null for a time', (_, product) => product.reserve({ ttl: null as never })],
  ['null segments', (stock) => stock.create('null', { units: 1, segments: null as never })],
  ['null units of a product', (stock) => stock.create('null', { units: null as never })],
  ['null units to restock', (_, product) => product.restock(null as never)],
  ['null options of a restock', (_, product) => product.restock(1, null as never)],
  ['a misspelt option of a restock', (_, product) => product.restock(1, { Request: 'r' } as never)],
])('%s rejects, and does not throw past the catch of whoever called', async (_, call) => {
  const stock = createStock(memoryStock());
  const product = await stock.create('phone', { units: 1 });
  const told = call(stock, product).catch((error: unknown) => error);
  expect(await told).toMatchObject({ code: 'STOCK_INVALID' });
});

test('a store refuses an option that there is not: it would keep its products where others keep theirs', () => {
  const transaction = () => Promise.reject(new Error('something was sent'));
  const stores: Record<string, () => unknown> = {
    sqlStock: () => sqlStock({ dialect: 'postgres', transaction, table: 'shop' } as SqlStockOptions),
    sqliteStock: () => sqliteStock({ path: ':memory:', tables: 'shop' } as { path: string }),
  };
  for (const [name, store] of Object.entries(stores))
    expect(store).toThrow(expect.objectContaining({ code: 'STOCK_INVALID', message: expect.stringContaining(name) }));
});
