import type { Timing } from '../../../products/testing/index.ts';
import type { ServerName } from '../servers.ts';
import type { KitServerName } from './kit-servers.ts';

/** A client of an engine, as applications have it. Each setting is a cell. */
export interface ClientRow {
  /** As the page names it. */
  readonly title: string;
  /** The file in `programs` that opens it, and what it is called there. */
  readonly program: 'local' | 'own' | 'redis' | 'postgres' | 'mysql' | 'mongodb' | 'aws' | 'nats';
  readonly client: string;
  /** What is installed for it, and is asked for its version. */
  readonly packages: readonly string[];
  /** The oldest version that holdfast names, from a folder of its own. */
  readonly oldest?: true;
  /** Servers of the matrix; the first one has all settings and runtimes, the others the plain one. */
  readonly servers: readonly (`${ServerName}-${string}` | KitServerName | 'none')[];
  readonly settings: Readonly<Record<string, ClientSetting>>;
  /** Node 24 runs all settings; these the plain one. */
  readonly runtimes?: readonly RuntimeName[];
  /** The only runtime that has this client. */
  readonly builtIn?: RuntimeName;
  readonly timing?: Timing;
  readonly sideBySide?: number;
}

export interface ClientSetting {
  /** How the server stands. */
  readonly as?: 'tls' | 'cluster' | 'sentinel' | 'pgbouncer' | 'galera';
  /** Of the client. */
  readonly options?: object;
  /** Of the backend. */
  readonly backend?: object;
  readonly mode?: 'advisory' | 'named';
}

export type RuntimeName = 'node-22.13' | 'node-24' | 'node-26' | 'bun' | 'deno' | Way;
/** How a process is started, on Node 24. */
export type Way = 'worker_threads' | 'cluster' | 'PM2';

const EVERYWHERE: readonly RuntimeName[] = ['node-22.13', 'node-26', 'bun', 'deno', 'worker_threads', 'cluster', 'PM2'];
const ELSEWHERE: readonly RuntimeName[] = ['node-22.13', 'node-26', 'bun', 'deno'];
/** Statements on a disk that others use, too. */
const DISK = { ttl: 1_200, tolerance: 500 };

const LIKE_IOREDIS: ClientRow['settings'] = {
  plain: {},
  keyPrefix: { options: { keyPrefix: 'app:' } },
  lazyConnect: { options: { lazyConnect: true } },
  commandTimeout: { options: { commandTimeout: 5_000 } },
  autopipelining: { options: { enableAutoPipelining: true } },
  'no offline queue': { options: { enableOfflineQueue: false } },
  'no ready check': { options: { enableReadyCheck: false } },
  TLS: { as: 'tls' },
  Cluster: { as: 'cluster' },
  Sentinel: { as: 'sentinel' },
};
const NODE_REDIS_5: ClientRow['settings'] = {
  plain: {},
  RESP2: { options: { RESP: 2 } },
  RESP3: { options: { RESP: 3 } },
  'no offline queue': { options: { disableOfflineQueue: true } },
  TLS: { as: 'tls' },
  Cluster: { as: 'cluster' },
};
/** Its sentinels came with 6. */
const NODE_REDIS_6: ClientRow['settings'] = {
  ...NODE_REDIS_5,
  Sentinel: { as: 'sentinel' },
  keyPrefix: { options: { keyPrefix: 'app:' } },
};
const REDIS = { program: 'redis', servers: ['redis-7.0', 'valkey-9.1', 'redis-6.2'] } as const;
const POSTGRES = { program: 'postgres', servers: ['postgres-17'], timing: DISK } as const;
const MYSQL = { program: 'mysql', servers: ['mariadb-11.8', 'mysql-9.7'], timing: DISK, sideBySide: 3 } as const;
const PLAIN = { plain: {} };
/** Emulators answer one request at a time, and need the cores that the cases use. */
const EMULATED = { ttl: 1_000, tolerance: 800 };
const S3 = {
  sideBySide: 2,
  program: 'aws',
  client: 's3',
  packages: ['@aws-sdk/client-s3'],
  timing: EMULATED,
  settings: PLAIN,
} as const;
const DYNAMODB = {
  sideBySide: 2,
  program: 'aws',
  client: 'dynamodb',
  packages: ['@aws-sdk/client-dynamodb', '@aws-sdk/lib-dynamodb'],
  timing: EMULATED,
  settings: PLAIN,
} as const;
const NATS = {
  program: 'nats',
  client: 'nats',
  packages: ['@nats-io/kv', '@nats-io/transport-node'],
  servers: ['nats'],
  settings: PLAIN,
} as const;

const handedOver = <P extends Pick<ClientRow, 'program' | 'servers'>>(
  engine: P,
  names: readonly (readonly [title: string, client: string, ...packages: string[]])[],
): ClientRow[] =>
  names.map(([title, client, ...packages]) => ({ ...engine, title, client, packages, settings: PLAIN }));

export const CLIENTS: readonly ClientRow[] = [
  {
    title: 'memory',
    program: 'local',
    client: 'memory',
    packages: [],
    servers: ['none'],
    settings: PLAIN,
    runtimes: EVERYWHERE,
  },
  {
    title: 'file',
    program: 'local',
    client: 'file',
    packages: [],
    servers: ['none'],
    settings: PLAIN,
    runtimes: EVERYWHERE,
    sideBySide: 1,
  },
  {
    ...REDIS,
    title: 'ioredis 6',
    client: 'ioredis',
    packages: ['ioredis'],
    settings: { ...LIKE_IOREDIS, RESP2: { options: { protocol: 2 } } },
    runtimes: EVERYWHERE,
  },
  { ...REDIS, title: 'ioredis 5', client: 'ioredis-5', packages: ['ioredis-5'], settings: LIKE_IOREDIS },
  { ...REDIS, title: 'iovalkey', client: 'iovalkey', packages: ['iovalkey'], settings: LIKE_IOREDIS },
  {
    ...REDIS,
    title: 'node-redis 6',
    client: 'redis',
    packages: ['redis'],
    settings: NODE_REDIS_6,
    runtimes: ELSEWHERE,
  },
  { ...REDIS, title: 'node-redis 5', client: 'redis-5', packages: ['redis-5'], settings: NODE_REDIS_5 },
  {
    ...REDIS,
    title: 'Valkey GLIDE',
    client: '@valkey/valkey-glide',
    packages: ['@valkey/valkey-glide'],
    settings: {
      plain: {},
      // It takes no certificate that is its own authority, as that of these servers is.
      'TLS, certificate not checked': {
        as: 'tls',
        options: { advancedConfiguration: { tlsAdvancedConfiguration: { insecure: true } } },
      },
    },
  },
  {
    ...REDIS,
    title: 'Bun.redis',
    client: 'Bun.redis',
    packages: [],
    builtIn: 'bun',
    settings: { plain: {}, TLS: { as: 'tls' } },
  },
  {
    ...POSTGRES,
    ...{ title: 'pg 8', client: 'pg', packages: ['pg'], runtimes: EVERYWHERE },
    settings: {
      plain: {},
      polled: { backend: { connect: false } },
      'a connection of its own': { backend: { ownConnection: true } },
      'a pool of one': { options: { max: 1 } },
      advisory: { mode: 'advisory' },
      'PgBouncer, transaction mode': { as: 'pgbouncer' },
    },
  },
  {
    ...POSTGRES,
    title: 'postgres.js',
    client: 'postgres',
    packages: ['postgres'],
    runtimes: ELSEWHERE,
    settings: {
      plain: {},
      polled: { backend: { connect: false } },
      'a pool of one': { options: { max: 1 } },
      'not prepared': { options: { prepare: false } },
      'PgBouncer, transaction mode': { as: 'pgbouncer', options: { prepare: false } },
    },
  },
  {
    ...POSTGRES,
    servers: ['none'],
    title: 'PGlite',
    client: '@electric-sql/pglite',
    packages: ['@electric-sql/pglite'],
    settings: PLAIN,
  },
  { ...POSTGRES, title: 'Bun.SQL', client: 'Bun.SQL', packages: [], builtIn: 'bun', settings: PLAIN },
  ...handedOver(POSTGRES, [
    ['Knex', 'knex', 'knex', 'pg'],
    ['Kysely', 'kysely', 'kysely', 'pg'],
    ['Drizzle', 'drizzle-orm', 'drizzle-orm', 'pg'],
    ['Drizzle on postgres.js', 'drizzle-orm/postgres-js', 'drizzle-orm', 'postgres'],
    ['TypeORM', 'typeorm', 'typeorm', 'pg'],
    ['MikroORM', '@mikro-orm/postgresql', '@mikro-orm/postgresql', 'pg'],
    ['Sequelize', 'sequelize', 'sequelize', 'pg'],
    ['Prisma', '@prisma/adapter-pg', '@prisma/adapter-pg', 'pg'],
  ]),
  {
    ...MYSQL,
    title: 'mysql2',
    client: 'mysql2',
    packages: ['mysql2'],
    settings: {
      plain: {},
      'a connection of its own': { backend: { ownConnection: true } },
      named: { mode: 'named', options: { connectionLimit: 30 } },
      'Galera, all through one node': { as: 'galera' },
    },
    runtimes: EVERYWHERE,
  },
  {
    ...MYSQL,
    title: 'mariadb',
    client: 'mariadb',
    packages: ['mariadb'],
    settings: {
      plain: {},
      gate: { backend: { gate: true } },
      named: { mode: 'named', options: { connectionLimit: 30 } },
    },
  },
  { ...MYSQL, title: 'mysql2 with promises', client: 'mysql2/promise', packages: ['mysql2'], settings: PLAIN },
  ...handedOver(MYSQL, [
    ['Knex', 'knex', 'knex', 'mysql2'],
    ['Kysely', 'kysely', 'kysely', 'mysql2'],
    ['Drizzle', 'drizzle-orm', 'drizzle-orm', 'mysql2'],
    ['TypeORM', 'typeorm', 'typeorm', 'mysql2'],
    ['Sequelize', 'sequelize', 'sequelize', 'mysql2'],
  ]),
  {
    title: 'etcd',
    program: 'own',
    client: 'etcd',
    packages: [],
    servers: ['etcd-3.5'],
    settings: PLAIN,
    runtimes: ELSEWHERE,
    timing: { ttl: 1_000, tolerance: 1_200 },
  },
  {
    title: 'ZooKeeper',
    program: 'own',
    client: 'zookeeper',
    packages: [],
    servers: ['zookeeper-3.9'],
    settings: PLAIN,
    runtimes: ELSEWHERE,
    timing: { tolerance: 400 },
  },
  { ...NATS, title: 'NATS', settings: { plain: {}, 'three replicas': { as: 'cluster' } }, runtimes: ELSEWHERE },
  { ...NATS, title: 'NATS, oldest client', oldest: true },
  { ...S3, title: 'S3', servers: ['s3-moto'] },
  { ...S3, title: 'S3, oldest client', oldest: true, servers: ['s3-moto'] },
  { ...DYNAMODB, title: 'DynamoDB', servers: ['dynamodb-dynalite', 'dynamodb-moto'] },
  { ...DYNAMODB, title: 'DynamoDB, oldest client', oldest: true, servers: ['dynamodb-dynalite'] },
];
