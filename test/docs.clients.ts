/** Each kind of client that a page says will do. Compiled as in a project that has the package; never run. */
import type { Backend, Duration, Locks } from 'holdfast';
import { redisFence } from 'holdfast/fence';
import { mongodb } from 'holdfast/mongodb';
import { mysql, mysqlNamed } from 'holdfast/mysql';
import { postgres, postgresAdvisory } from 'holdfast/postgres';
import { redis } from 'holdfast/redis';
import { redlock } from 'holdfast/redlock';
import { redisStock } from 'holdfast/stock';
import { Cluster, Redis } from 'ioredis';
import { MongoClient } from 'mongodb';
import mysql2 from 'mysql2';
import mysql2Promise from 'mysql2/promise';
import pg from 'pg';
import { createClient, createCluster, createSentinel } from 'redis';

const ioredis = new Redis();
const nodeRedis = await createClient().connect();

export const taken: readonly Backend[] = [
  redis(ioredis),
  redis(new Cluster([{ host: 'h' }])),
  redis(nodeRedis),
  redis(createClient({ RESP: 3 })),
  redis(createCluster({ rootNodes: [] })),
  redis(createSentinel({ name: 'main', sentinelRootNodes: [] })),
  redlock([ioredis, nodeRedis, ioredis]),
  postgres(new pg.Pool()),
  postgresAdvisory(new pg.Pool()),
  mysql(mysql2.createPool('')),
  mysql(mysql2Promise.createPool('')),
  mysqlNamed(mysql2.createPool('')),
  mysqlNamed(mysql2Promise.createPool('')),
  mongodb(new MongoClient('').db()),
];
export const stores: unknown = [redisStock(ioredis), redisStock(nodeRedis)];
export const fences: unknown = [redisFence(ioredis, 'r'), redisFence(nodeRedis, 'r')];

/** What a function was not given it hands on as it is. */
export const handedOn = (locks: Locks, signal?: AbortSignal, wait?: Duration, units?: number): readonly unknown[] => [
  locks.mutex('k').run(() => {}, { signal, wait }),
  locks.semaphore('s', { permits: 3 }).acquire({ signal, units }),
];
