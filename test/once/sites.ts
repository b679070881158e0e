import { join } from 'node:path';
import type { OnceResult } from '../../src/index.ts';
import { startEtcd } from '../kit/etcd.ts';
import { temporaryFolder } from '../kit/folder.ts';
import { startMariadb } from '../kit/mariadb.ts';
import { startPostgres } from '../kit/postgres.ts';
import { startWorker, type WorkerProcess } from '../kit/processes.ts';
import { startRedis, startRedisNodes } from '../kit/redis.ts';
import type { Engine } from '../kit/selection.ts';
import { startZookeeper } from '../kit/zookeeper.ts';
import type { OnceCalls } from './once.worker.ts';

export interface Opened extends AsyncDisposable {
  readonly url: string;
}

async function folder(): Promise<Opened> {
  const at = temporaryFolder();
  return { url: `file:${join(at.path, 'locks.db')}`, [Symbol.asyncDispose]: async () => at[Symbol.dispose]() };
}

/** Three servers that know nothing of each other. */
async function redlock(): Promise<Opened> {
  const nodes = await startRedisNodes(3);
  const hosts = nodes.servers.map(({ host, port }) => `${host}:${port}`);
  return { url: `redlock+redis://${hosts}`, [Symbol.asyncDispose]: () => nodes[Symbol.asyncDispose]() };
}

/** An engine on which instances of several processes see the same ticks. */
export interface Site {
  readonly name: string;
  readonly engine: Engine;
  readonly open: () => Promise<Opened>;
  /** Of its address. */
  readonly params?: string;
  /** ms */
  readonly ttl?: number;
}

export const SITES: readonly Site[] = [
  { name: 'a file', engine: 'file', open: folder },
  { name: 'Redis', engine: 'redis', open: startRedis },
  { name: 'PostgreSQL', engine: 'postgres', open: startPostgres },
  { name: 'etcd', engine: 'etcd', open: startEtcd, ttl: 2_000 },
  {
    name: 'ZooKeeper',
    engine: 'zookeeper',
    open: () => startZookeeper({ tickTime: '200' }),
    params: '?sessionTimeout=1s',
  },
];
/** These keep a record as those do that are left: as a hold in a row, and as holds on several nodes. */
export const MORE_SITES: readonly Site[] = [
  { name: 'MariaDB', engine: 'mysql', open: startMariadb },
  { name: 'Redlock', engine: 'redlock', open: redlock },
];

/** Starts one instance there. */
export const startInstance = (
  { params = '' }: Site,
  { url }: Opened,
  env: Readonly<Record<string, string>>,
): Promise<WorkerProcess<OnceCalls>> =>
  startWorker(new URL('once.worker.ts', import.meta.url), { env: { URL: url + params, AHEAD: '0', ...env } });

export const won = (result: OnceResult<unknown>): string => (result.ran ? 'ran' : result.reason);
