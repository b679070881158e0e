import { startAuthority } from '../../kit/certificates.ts';
import { startDynamo, startDynamoOfMoto } from '../../kit/dynamodb.ts';
import { startEtcdMembers } from '../../kit/etcd.ts';
import { startGalera } from '../../kit/galera.ts';
import { startMariadb } from '../../kit/mariadb.ts';
import { startMongo } from '../../kit/mongodb.ts';
import { startMysql } from '../../kit/mysql.ts';
import { startNats, startNatsCluster } from '../../kit/nats.ts';
import { startPgbouncer } from '../../kit/pgbouncer.ts';
import { startPostgres } from '../../kit/postgres.ts';
import { startRedis, startRedisCluster, startRedisSentinel } from '../../kit/redis.ts';
import { startS3 } from '../../kit/s3.ts';
import { startZookeeper } from '../../kit/zookeeper.ts';
import type { ServerName } from '../servers.ts';
import type { KitServerName } from './kit-servers.ts';
import type { ClientSetting } from './rows.ts';

/** Where a program finds its server. */
export interface Address {
  readonly url?: string;
  readonly urls?: readonly string[];
  readonly sentinels?: readonly string[];
  readonly group?: string;
  readonly ca?: string;
  /** For what must not go through a pooler. */
  readonly direct?: string;
}

export type Stand = AsyncDisposable & { readonly address: Address };

/** What can be started: a row of the matrix, or a server of the test kit. */
export type StandingServer = Exclude<ServerName, 'pgbouncer'> | KitServerName;

/** Starts a server as a setting wants it. */
export async function startStand(server: StandingServer, as: ClientSetting['as']): Promise<Stand> {
  const stack = new AsyncDisposableStack();
  try {
    const address = await addressOf(server, as, stack);
    return { address, [Symbol.asyncDispose]: () => stack.disposeAsync() };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

async function addressOf(
  server: StandingServer,
  as: ClientSetting['as'],
  stack: AsyncDisposableStack,
): Promise<Address> {
  switch (server) {
    case 'redis':
    case 'valkey':
      return redisAddress(as, stack);
    case 'postgres': {
      const { url, port } = stack.use(await startPostgres({ fsync: 'off' }));
      if (as !== 'pgbouncer') return { url };
      return { url: stack.use(await startPgbouncer(port)).url, direct: url };
    }
    case 'mariadb':
      if (as === 'galera') return { url: stack.use(await startGalera()).servers[0].url };
      return { url: stack.use(await startMariadb()).url };
    case 'mysql':
      return { url: stack.use(await startMysql()).url };
    case 'etcd':
      return { url: stack.use(await startEtcdMembers(1)).servers[0]!.url };
    case 'mongodb':
      return { url: stack.use(await startMongo()).url };
    case 'nats':
      if (as === 'cluster') return { urls: stack.use(await startNatsCluster()).servers.map(({ url }) => url) };
      return { url: stack.use(await startNats()).url };
    case 's3-moto':
      return { url: stack.use(await startS3()).url };
    case 'dynamodb-dynalite':
      return { url: stack.use(await startDynamo()).url };
    case 'dynamodb-moto':
      return { url: stack.use(await startDynamoOfMoto()).url };
    case 'zookeeper': {
      const { host, port } = stack.use(await startZookeeper({ tickTime: '200' }));
      return { url: `zookeeper://${host}:${port}` };
    }
  }
}

async function redisAddress(as: ClientSetting['as'], stack: AsyncDisposableStack): Promise<Address> {
  const urlsOf = (servers: readonly { readonly url: string }[]): string[] => servers.map(({ url }) => url);
  if (as === 'cluster') return { urls: urlsOf(stack.use(await startRedisCluster()).servers) };
  if (as === 'sentinel') {
    const { sentinels, name } = stack.use(await startRedisSentinel());
    return { sentinels: urlsOf(sentinels), group: name };
  }
  if (as !== 'tls') return { url: stack.use(await startRedis()).url };
  const authority = stack.use(startAuthority());
  return { url: stack.use(await startRedis({}, authority.issue())).url, ca: authority.ca };
}
