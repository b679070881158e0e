import { startEtcd } from '../kit/etcd.ts';
import { startMariadb } from '../kit/mariadb.ts';
import { startMongo } from '../kit/mongodb.ts';
import { HOST } from '../kit/net.ts';
import { startPostgres } from '../kit/postgres.ts';
import { askRedis, startRedis, startRedisCluster, startRedisSentinel } from '../kit/redis.ts';
import type { Engine } from '../kit/selection.ts';
import { startZookeeper } from '../kit/zookeeper.ts';

export interface Opened extends AsyncDisposable {
  readonly url: string;
}

/** A way to be addressed: what to start, and how to have a password refused, where the engine refuses any. */
export interface Address {
  readonly name: string;
  readonly engine: Engine;
  /** The packages that `connect` loads. */
  readonly driver?: string;
  start(): Promise<Opened>;
  /** `url` with this password, which is wrong. */
  refused?(url: string, password: string): string;
  /** Nobody listens there. */
  readonly dead: string;
}

const withUser = (url: string, password: string): string =>
  url.replace(/\/\/(?:[^@]*@)?/, `//nobody:${encodeURIComponent(password)}@`);

export const ADDRESSES: readonly Address[] = [
  {
    name: 'redis:',
    engine: 'redis',
    driver: 'ioredis',
    start: startRedis,
    refused: withUser,
    dead: `redis://nobody:canary@${HOST}:1`,
  },
  {
    name: 'redis+sentinel:',
    engine: 'redis',
    driver: 'ioredis',
    start: startRedisSentinel,
    refused: withUser,
    dead: `redis+sentinel://nobody:canary@${HOST}:1,${HOST}:2/main`,
  },
  {
    name: 'redis+cluster:',
    engine: 'redis',
    driver: 'ioredis',
    start: startRedisCluster,
    refused: withUser,
    dead: `redis+cluster://nobody:canary@${HOST}:1,${HOST}:2`,
  },
  {
    name: 'postgres:',
    engine: 'postgres',
    driver: 'pg',
    start: startPostgres,
    // It trusts everybody who exists.
    refused: withUser,
    dead: `postgres://nobody:canary@${HOST}:1/app`,
  },
  {
    name: 'mysql:',
    engine: 'mysql',
    driver: 'mysql2',
    start: startMariadb,
    refused: withUser,
    dead: `mysql://nobody:canary@${HOST}:1/app`,
  },
  {
    name: 'mongodb:',
    engine: 'mongodb',
    driver: 'mongodb',
    start: startMongo,
    dead: `mongodb://nobody:canary@${HOST}:1/app`,
  },
  { name: 'etcd:', engine: 'etcd', start: startEtcd, dead: `etcd://nobody:canary@${HOST}:1` },
  { name: 'zookeeper:', engine: 'zookeeper', start: startZookeeper, dead: `zookeeper://nobody:canary@${HOST}:1` },
];

/** `url` with one more parameter. */
export const plus = (url: string, param: string): string => `${url}${url.includes('?') ? '&' : '?'}${param}`;

/** How many clients a Redis has, this question not counted. */
export async function clientsOf(port: number): Promise<number> {
  const list = await askRedis(port, 'CLIENT LIST');
  return list.split('\n').filter((line) => line.startsWith('id=')).length - 1;
}
