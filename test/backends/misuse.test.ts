import { Redis } from 'ioredis';
import { MongoClient } from 'mongodb';
import mysql2 from 'mysql2';
import mysql2Promise from 'mysql2/promise';
import pg from 'pg';
import { createClientPool } from 'redis';
import { afterAll, expect, test } from 'vitest';
import { etcd } from '../../src/backends/etcd/index.ts';
import { file } from '../../src/backends/file/index.ts';
import { memory } from '../../src/backends/memory.ts';
import { mongodb } from '../../src/backends/mongodb/index.ts';
import { mysql, mysqlNamed } from '../../src/backends/mysql/index.ts';
import { postgres, postgresAdvisory } from '../../src/backends/postgres/index.ts';
import { redis } from '../../src/backends/redis/index.ts';
import { redlock } from '../../src/backends/redlock/index.ts';
import { zookeeper } from '../../src/backends/zookeeper/index.ts';
import { isLockError } from '../../src/core/contract/errors.ts';
import { createLocks } from '../../src/index.ts';

// None of them is ever used: what is wrong has to be seen before.
const clients = Array.from({ length: 3 }, () => new Redis({ lazyConnect: true }));
const pgPool = new pg.Pool();
const mysqlPool = mysql2.createPool({});
const mongo = new MongoClient('mongodb://127.0.0.1');
afterAll(async () => {
  for (const client of clients) client.disconnect();
  await Promise.all([pgPool.end(), mysqlPool.promise().end(), mongo.close()]);
});

const refusal = (make: () => unknown): string => {
  try {
    make();
  } catch (error) {
    if (isLockError(error, 'LOCK_INVALID')) return error.message;
    throw error;
  }
  return 'taken';
};

/** As that of mariadb/callback: its connections take callbacks at another place than those of mysql2. */
const poolWithCallbacks = { closed: false, totalConnections: () => 0, getConnection: (_done: () => void) => {} };

/** As that of pg.native, which needs a library of the system to be loaded. */
class ClientOfLibpq {
  isConnected(): void {}
}
const poolOfLibpq = new pg.Pool({ Client: ClientOfLibpq as never });

/** A misspelt prefix must not be the default one. */
const MISSPELT = { prefx: 'shop' } as object;
/** As from JavaScript. */
const NOTHING = [] as unknown as [never];

test.each([
  ['memory', () => memory(MISSPELT)],
  ['file', () => file({ path: 'locks.db', ...MISSPELT })],
  ['redis', () => redis(clients[0]!, MISSPELT)],
  ['redlock', () => redlock(clients, MISSPELT)],
  ['postgres', () => postgres(pgPool, MISSPELT)],
  ['postgresAdvisory', () => postgresAdvisory(pgPool, MISSPELT)],
  ['mysql', () => mysql(mysqlPool, MISSPELT)],
  ['mysqlNamed', () => mysqlNamed(mysqlPool, MISSPELT)],
  ['mongodb', () => mongodb(mongo.db('app'), MISSPELT)],
])('%s refuses an option that it does not know, and names those it does', (_, make) => {
  expect(refusal(make)).toMatch(/"prefx" is not one of .*; there are .*clock/);
});

test.each([
  ['redis', () => redis('redis://127.0.0.1' as never), 'new Redis()'],
  // @ts-expect-error: and so the compiler says
  ['redis, a pool of node-redis', () => redis(createClientPool()), 'createClientPool() is none of them'],
  ['postgres, a URL', () => postgres('postgres://127.0.0.1' as never), 'new pg.Pool'],
  ['postgres, one client', () => postgres(new pg.Client()), 'new pg.Pool'],
  ['postgresAdvisory, nothing', () => postgresAdvisory(undefined as never), 'new pg.Pool'],
  ['postgres, a pool of pg.native', () => postgres(poolOfLibpq), 'new pg.Pool(…) of pg itself'],
  ['postgresAdvisory, a pool of pg.native', () => postgresAdvisory(poolOfLibpq), 'NODE_PG_FORCE_NATIVE'],
  ['mysql, a URL', () => mysql('mysql://127.0.0.1' as never), 'createPool'],
  ['mysqlNamed, nothing', () => mysqlNamed(undefined as never), 'createPool'],
  // @ts-expect-error: and so the compiler says
  ['mysql, a cluster of pools', () => mysql(mysql2.createPoolCluster()), 'createPool'],
  // @ts-expect-error: and so the compiler says
  ['mysql, some pools of a cluster', () => mysql(mysql2.createPoolCluster().of('*')), 'createPool'],
  ['mysql, a cluster by promises', () => mysql(mysql2Promise.createPoolCluster().of('*') as never), 'createPool'],
  // @ts-expect-error: and so the compiler says
  ['mysql, a pool of mariadb/callback', () => mysql(poolWithCallbacks), 'mariadb with promises'],
  ['mongodb, a client', () => mongodb(mongo as never), "client.db('app')"],
])('%s: what is no client of its kind is refused, and it is said what would be one', (_, make, wanted) => {
  expect(refusal(make)).toContain(wanted);
});

test.each([
  ['file', () => file(...NOTHING)],
  ['etcd', () => etcd(...NOTHING)],
  ['zookeeper', () => zookeeper(...NOTHING)],
])('%s without options says which there are', (name, make) => {
  expect(refusal(make)).toMatch(new RegExp(`options of ${name}\\(\\) are missing; there are .*clock`));
});

test.each([
  ['null', null],
  ['a number', 30_000],
  ['misspelt', { tll: 30_000 }],
])('defaults of all locks that are %s are refused when they are given', (_, defaults) => {
  expect(refusal(() => createLocks(memory(), defaults as never))).toContain('the defaults of createLocks()');
});
