import { join } from 'node:path';
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { createPool } from 'mysql2/promise';
import pg from 'pg';
import { createClient, createCluster } from 'redis';
import type { Take } from '../../products/stock/cell.ts';
import {
  memoryStock,
  redisStock,
  type SqlStockOptions,
  type StockStore,
  sqliteStock,
  sqlStock,
} from '../../products/stock/index.ts';
import { temporaryFolder } from '../kit/folder.ts';
import { MYSQL_KINDS } from '../kit/mysql-kinds.ts';
import { startPostgres } from '../kit/postgres.ts';
import { startRedis, startRedisCluster, startRedisNodes } from '../kit/redis.ts';
import type { Part } from '../kit/selection.ts';

/** A store on an engine of its own; `stack` ends both. */
export interface Subject {
  readonly name: string;
  readonly part: Part | readonly Part[];
  open(stack: AsyncDisposableStack): Promise<StockStore>;
}

export function ioredisAt(port: number, stack: AsyncDisposableStack, options: RedisOptions = {}): Redis {
  const client = new Redis(port, '127.0.0.1', { enableReadyCheck: false, ...options });
  client.on('error', () => {});
  stack.defer(() => client.disconnect());
  return client;
}

/** An order without a buyer, a limit or a token, sold at once; without its id. */
export const ORDINARY = {
  ...{ op: 'take', epoch: 1, buyer: '', units: 1, ttl: 0, limit: 0, already: 0, token: '' },
} as const satisfies Omit<Take, 'id'>;

type Transaction = SqlStockOptions['transaction'];

export function postgresTransactions(url: string, stack: AsyncDisposableStack): Transaction {
  const pool = new pg.Pool({ connectionString: url });
  pool.on('error', () => {});
  stack.defer(() => pool.end());
  return async (work) => {
    const client = await pool.connect();
    try {
      await client.query('BEGIN');
      const result = await work((sql, params) => client.query(sql, [...params]));
      await client.query('COMMIT');
      return result;
    } catch (error) {
      await client.query('ROLLBACK').catch(() => {});
      throw error;
    } finally {
      client.release();
    }
  };
}

export function mysqlTransactions(url: string, stack: AsyncDisposableStack): Transaction {
  const pool = createPool(url);
  stack.defer(() => pool.end());
  return async (work) => {
    const connection = await pool.getConnection();
    try {
      await connection.beginTransaction();
      const result = await work((sql, params) => connection.execute(sql, params as string[]));
      await connection.commit();
      return result;
    } catch (error) {
      await connection.rollback().catch(() => {});
      throw error;
    } finally {
      connection.release();
    }
  };
}

export const SUBJECTS: readonly Subject[] = [
  { name: 'memory', part: 'memory', open: async () => memoryStock() },
  {
    name: 'sqlite',
    part: 'file',
    async open(stack) {
      const folder = stack.use(temporaryFolder());
      return stack.use(sqliteStock({ path: join(folder.path, 'stock.db') }));
    },
  },
  {
    name: 'redis, ioredis',
    part: 'redis',
    open: async (stack) => redisStock(ioredisAt(stack.use(await startRedis()).port, stack)),
  },
  {
    name: 'redis, node-redis',
    part: 'redis',
    async open(stack) {
      const client = createClient({ url: stack.use(await startRedis()).url });
      client.on('error', () => {});
      await client.connect();
      stack.defer(() => client.destroy());
      return redisStock(client);
    },
  },
  {
    name: 'three Redis',
    part: 'redis',
    async open(stack) {
      const { servers } = stack.use(await startRedisNodes(3));
      return redisStock(servers.map(({ port }) => ioredisAt(port, stack)));
    },
  },
  {
    name: 'Redis Cluster, ioredis',
    part: 'redis',
    async open(stack) {
      const { servers } = stack.use(await startRedisCluster());
      const cluster = new Cluster(servers.map(({ port }) => ({ host: '127.0.0.1', port })));
      cluster.on('error', () => {});
      stack.defer(() => cluster.disconnect());
      return redisStock(cluster);
    },
  },
  {
    name: 'Redis Cluster, node-redis',
    part: 'redis',
    async open(stack) {
      const { servers } = stack.use(await startRedisCluster());
      const cluster = createCluster({ rootNodes: servers.map(({ url }) => ({ url })) });
      cluster.on('error', () => {});
      await cluster.connect();
      stack.defer(() => cluster.destroy());
      return redisStock(cluster);
    },
  },
  {
    name: 'PostgreSQL',
    part: 'postgres',
    async open(stack) {
      const { url } = stack.use(await startPostgres());
      const store = sqlStock({ dialect: 'postgres', transaction: postgresTransactions(url, stack) });
      await store.setup();
      await store.setup();
      return store;
    },
  },
  ...MYSQL_KINDS.map(
    ({ name, dialect, need, start }): Subject => ({
      name,
      part: ['mysql', need],
      async open(stack) {
        const { url } = stack.use(await start());
        const store = sqlStock({ dialect, transaction: mysqlTransactions(url, stack) });
        await store.setup();
        await store.setup();
        return store;
      },
    }),
  ),
];
