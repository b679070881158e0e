/** The ways to reach an engine from several processes. Tests of all engines, torture and benches choose from these. */
import { join } from 'node:path';
import { urlOfFile } from '../../src/connect/url.ts';
import { startDynamo } from './dynamodb.ts';
import { startEtcd } from './etcd.ts';
import { temporaryFolder } from './folder.ts';
import { startMariadb } from './mariadb.ts';
import { startMongo } from './mongodb.ts';
import { startNats, startNatsCluster } from './nats.ts';
import { HOST } from './net.ts';
import { startPostgres } from './postgres.ts';
import { startRedis, startRedisCluster, startRedisNodes, startRedisSentinel } from './redis.ts';
import { startS3 } from './s3.ts';
import type { Engine } from './selection.ts';
import { startZookeeper } from './zookeeper.ts';

/** An engine that runs. */
export interface Site extends AsyncDisposable {
  readonly url: string;
  /** Those of its servers; none for a file. */
  readonly ports: readonly number[];
}

export interface SitePlan {
  readonly engine: Engine;
  /** The package that `connect` loads. */
  readonly driver?: string;
  /** @param ttl ms after which a hold without a renewal expires, where the address says so. Default 2 s */
  start(ttl?: number): Promise<Site>;
  /** An address where nobody listens, with a password. None for a file. */
  readonly dead?: string;
  /** The server refuses a user that it does not know. */
  readonly refuses?: true;
}

interface StartedSite extends AsyncDisposable {
  readonly url: string;
  readonly port?: number;
  readonly servers?: readonly { readonly port: number }[];
}

const server =
  (start: () => Promise<StartedSite>, query: (ttl: number) => string = () => '') =>
  async (ttl = 2_000): Promise<Site> => {
    const started = await start();
    const ports = started.servers?.map(({ port }) => port) ?? (started.port === undefined ? [] : [started.port]);
    return { url: started.url + query(ttl), ports, [Symbol.asyncDispose]: async () => started[Symbol.asyncDispose]() };
  };

async function inFolder(): Promise<Site> {
  const folder = temporaryFolder();
  const url = urlOfFile(join(folder.path, 'locks.db'));
  return { url, ports: [], [Symbol.asyncDispose]: async () => folder[Symbol.dispose]() };
}

/** Starts a server of Redis, by the address of an engine whose locks other programs take, too. */
const startSharedRedis = (scheme: string) => async (): Promise<StartedSite> => {
  const started = await startRedis();
  const { port } = started;
  const url = started.url.replace('redis:', `${scheme}:`);
  return { url, port, [Symbol.asyncDispose]: async () => started[Symbol.asyncDispose]() };
};

const nobody = (scheme: string, rest: string): string => `${scheme}://nobody:canary@${HOST}:1${rest}`;

export const SITES = {
  file: { engine: 'file', start: inFolder },
  redis: {
    engine: 'redis',
    driver: 'ioredis',
    start: server(startRedis),
    dead: nobody('redis', ''),
    refuses: true,
  },
  'redis-sentinel': {
    engine: 'redis',
    driver: 'ioredis',
    start: server(startRedisSentinel),
    dead: nobody('redis+sentinel', `,${HOST}:2/main`),
    refuses: true,
  },
  'redis-cluster': {
    engine: 'redis',
    driver: 'ioredis',
    start: server(startRedisCluster),
    dead: nobody('redis+cluster', `,${HOST}:2`),
    refuses: true,
  },
  redlock: { engine: 'redlock', start: server(() => startRedisNodes(3)) },
  'redis-plain': {
    engine: 'redis-plain',
    driver: 'ioredis',
    start: server(startSharedRedis('redis+plain')),
    dead: nobody('redis+plain', ''),
    refuses: true,
  },
  redisson: {
    engine: 'redisson',
    driver: 'ioredis',
    start: server(startSharedRedis('redis+redisson')),
    dead: nobody('redis+redisson', ''),
    refuses: true,
  },
  postgres: {
    engine: 'postgres',
    driver: 'pg',
    start: server(startPostgres),
    dead: nobody('postgres', '/app'),
    refuses: true, // it trusts everybody who exists
  },
  mysql: {
    engine: 'mysql',
    driver: 'mysql2',
    start: server(startMariadb),
    dead: nobody('mysql', '/app'),
    refuses: true,
  },
  mongodb: { engine: 'mongodb', driver: 'mongodb', start: server(startMongo), dead: nobody('mongodb', '/app') },
  etcd: { engine: 'etcd', start: server(startEtcd), dead: nobody('etcd', '') },
  zookeeper: {
    engine: 'zookeeper',
    // Its sessions expire in steps of the tick.
    start: server(
      () => startZookeeper({ tickTime: '200' }),
      (ttl) => `?sessionTimeout=${ttl}`,
    ),
    dead: nobody('zookeeper', ''),
  },
  nats: {
    engine: 'nats',
    driver: '@nats-io/transport-node',
    start: server(startNats),
    dead: nobody('nats', '/locks'),
  },
  'nats-cluster': { engine: 'nats', driver: '@nats-io/transport-node', start: server(() => startNatsCluster()) },
  s3: { engine: 's3', driver: '@aws-sdk/client-s3', start: server(startS3) },
  dynamodb: { engine: 'dynamodb', driver: '@aws-sdk/client-dynamodb', start: server(startDynamo) },
} as const satisfies Readonly<Record<string, SitePlan>>;

export type SiteName = keyof typeof SITES;
export const ALL_SITES: Readonly<Record<SiteName, SitePlan>> = SITES;
