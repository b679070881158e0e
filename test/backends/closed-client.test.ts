import { Redis } from 'ioredis';
import { createPool } from 'mysql2/promise';
import { Pool } from 'pg';
import { createClient } from 'redis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { mysql, mysqlNamed } from '../../src/backends/mysql/index.ts';
import { postgres, postgresAdvisory } from '../../src/backends/postgres/index.ts';
import { redis } from '../../src/backends/redis/index.ts';
import { redlock } from '../../src/backends/redlock/index.ts';
import type { Backend } from '../../src/core/contract/backend.ts';
import { createLocks } from '../../src/index.ts';
import { startMariadb } from '../kit/mariadb.ts';
import { startPostgres } from '../kit/postgres.ts';
import { startRedis, startRedisNodes } from '../kit/redis.ts';
import type { Engine } from '../kit/selection.ts';
import { describeOn } from '../kit/suite.ts';

/** Far below the five seconds that an engine has which may answer yet, and after which Jest ends a hook. ms. */
const SOON = 1_500;

interface Opened {
  readonly backend: Backend;
  end(): unknown;
}

interface Case {
  readonly name: string;
  readonly engine: Engine;
  start(): Promise<{ readonly url: string } & AsyncDisposable>;
  open(url: string): Promise<Opened>;
}

const quiet = (client: Redis): Redis => client.on('error', () => {});

const CASES: readonly Case[] = [
  {
    name: 'redis over ioredis',
    engine: 'redis',
    start: () => startRedis(),
    async open(url) {
      const client = quiet(new Redis(url));
      return { backend: redis(client), end: () => client.quit() };
    },
  },
  {
    name: 'redis over node-redis',
    engine: 'redis',
    start: () => startRedis(),
    async open(url) {
      const client = createClient({ url });
      client.on('error', () => {});
      await client.connect();
      return { backend: redis(client), end: () => client.close() };
    },
  },
  {
    name: 'redlock',
    engine: 'redis',
    start: () => startRedisNodes(3),
    async open(url) {
      const clients = url
        .split('//')[1]!
        .split(',')
        .map((address) => quiet(new Redis(`redis://${address}`)));
      return {
        backend: redlock(clients),
        // Where the server ends a connection before its answer to QUIT is read, that rejects; it is closed all the same.
        end: () => Promise.allSettled(clients.map((client) => client.quit())),
      };
    },
  },
  {
    name: 'postgres',
    engine: 'postgres',
    start: () => startPostgres(),
    async open(connectionString) {
      const pool = new Pool({ connectionString, max: 4 });
      pool.on('error', () => {});
      return { backend: postgres(pool), end: () => pool.end() };
    },
  },
  {
    name: 'postgresAdvisory',
    engine: 'postgres',
    start: () => startPostgres(),
    async open(connectionString) {
      const pool = new Pool({ connectionString, max: 4 });
      pool.on('error', () => {});
      return { backend: postgresAdvisory(pool), end: () => void pool.end() };
    },
  },
  {
    name: 'mysql',
    engine: 'mysql',
    start: () => startMariadb(),
    async open(url) {
      const pool = createPool({ uri: url, connectionLimit: 4 });
      return { backend: mysql(pool), end: () => pool.end() };
    },
  },
  {
    name: 'mysqlNamed',
    engine: 'mysql',
    start: () => startMariadb(),
    async open(url) {
      const pool = createPool({ uri: url, connectionLimit: 4 });
      return { backend: mysqlNamed(pool), end: () => void pool.end() };
    },
  },
];

for (const { name, engine, start, open } of CASES) {
  describeOn(engine, `${name}, closed after its client`, () => {
    let server: { readonly url: string } & AsyncDisposable;
    beforeAll(async () => {
      server = await start();
    });
    afterAll(() => server?.[Symbol.asyncDispose]());

    test('close() is done at once, with a hold and a waiter: what is closed for good is not asked again', async () => {
      const { backend, end } = await open(server.url);
      const locks = createLocks(backend);
      const lease = await locks.mutex('held').acquire();
      const waiting = locks.mutex('held').acquire();
      waiting.catch(() => {});
      await locks.mutex('other').acquire();
      await end();
      const began = performance.now();
      await locks.close();
      expect(performance.now() - began, 'ms that close() took').toBeLessThan(SOON);
      expect(lease.held).toBe(false);
      await expect(waiting).rejects.toMatchObject({ code: 'LOCK_CLOSED' });
    });
  });
}
