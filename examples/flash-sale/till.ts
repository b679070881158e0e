import { DatabaseSync } from 'node:sqlite';
import { Redis } from 'ioredis';
import { redisStock, type StockStore, sqliteStock } from '../../products/stock/index.ts';

/** The shop's own database: a plain count of each product, the orders, and beside them a store of `holdfast/stock`. */
export interface Till {
  readonly store: StockStore;
  count(product: string): Promise<number>;
  setCount(product: string, units: number): Promise<void>;
  order(product: string, buyer: string): Promise<void>;
  orders(product: string): Promise<number>;
  remove(product: string): Promise<void>;
  /** Commands that clients sent so far; undefined where there is no server that counts them. */
  commands(): Promise<number | undefined>;
  end(): Promise<void>;
}

/** @param url `redis://…`, or `sqlite:` and a path */
export const openTill = (url: string): Till =>
  url.startsWith('sqlite:') ? onSqlite(url.slice('sqlite:'.length)) : onRedis(url);

function onRedis(url: string): Till {
  const client = new Redis(url, { enableAutoPipelining: true });
  client.on('error', () => {}); // the next command tells
  const countOf = (product: string): string => `count:${product}`;
  const ordersOf = (product: string): string => `orders:${product}`;
  return {
    store: redisStock(client),
    count: async (product) => Number(await client.get(countOf(product))),
    setCount: async (product, units) => void (await client.set(countOf(product), units)),
    order: async (product, buyer) => void (await client.rpush(ordersOf(product), buyer)),
    orders: (product) => client.llen(ordersOf(product)),
    remove: async (product) => void (await client.del(countOf(product), ordersOf(product))),
    // Scripts, and the plain commands of the count and of the orders that no script uses.
    async commands() {
      const stats = await client.info('commandstats');
      const sent = /^cmdstat_(?:evalsha|eval|rpush):calls=(\d+)/gm;
      return [...stats.matchAll(sent)].reduce((sum, [, calls]) => sum + Number(calls), 0);
    },
    end: async () => client.disconnect(),
  };
}

/** For the other processes that write the file. ms. */
const PATIENCE = 10_000;

function onSqlite(path: string): Till {
  const store = sqliteStock({ path });
  const file = new DatabaseSync(path, { timeout: PATIENCE });
  file.exec(`CREATE TABLE IF NOT EXISTS counts (product TEXT PRIMARY KEY, units INTEGER NOT NULL);
    CREATE TABLE IF NOT EXISTS sales (product TEXT NOT NULL, buyer TEXT NOT NULL)`);
  const number = (sql: string, product: string): number =>
    Number(Object.values(file.prepare(sql).get(product) ?? {})[0]);
  return {
    store,
    count: async (product) => number('SELECT units FROM counts WHERE product = ?', product),
    setCount: async (product, units) =>
      void file.prepare('INSERT OR REPLACE INTO counts (product, units) VALUES (?, ?)').run(product, units),
    order: async (product, buyer) =>
      void file.prepare('INSERT INTO sales (product, buyer) VALUES (?, ?)').run(product, buyer),
    orders: async (product) => number('SELECT COUNT(*) FROM sales WHERE product = ?', product),
    async remove(product) {
      for (const table of ['counts', 'sales']) file.prepare(`DELETE FROM ${table} WHERE product = ?`).run(product);
    },
    commands: async () => undefined,
    async end() {
      file.close();
      store.close();
    },
  };
}
