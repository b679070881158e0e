import { join } from 'node:path';
import { startEtcd } from '../kit/etcd.ts';
import { temporaryFolder } from '../kit/folder.ts';
import { startMariadb } from '../kit/mariadb.ts';
import { startPostgres } from '../kit/postgres.ts';
import { startRedis, startRedisNodes } from '../kit/redis.ts';
import type { Engine } from '../kit/selection.ts';
import { startZookeeper } from '../kit/zookeeper.ts';

/** An engine that runs, as instances reach it. */
export interface Site extends AsyncDisposable {
  readonly url: string;
  /** Of its servers; none for a file. */
  readonly ports: readonly number[];
}

/** Of every term, ms: what etcd grants at least, and long enough for a busy machine. */
export const TTL = 2_000;

interface Started extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
}

const server =
  (start: () => Promise<Started>, more = '') =>
  async (): Promise<Site> => {
    const started = await start();
    const end = async (): Promise<void> => started[Symbol.asyncDispose]();
    return { url: started.url + more, ports: [started.port], [Symbol.asyncDispose]: end };
  };

export const SITES = {
  async file(): Promise<Site> {
    const folder = temporaryFolder();
    const end = async (): Promise<void> => folder[Symbol.dispose]();
    return { url: `file:${join(folder.path, 'locks.db')}`, ports: [], [Symbol.asyncDispose]: end };
  },
  redis: server(startRedis),
  async redlock(): Promise<Site> {
    const started = await startRedisNodes(3);
    const end = async (): Promise<void> => started[Symbol.asyncDispose]();
    return { url: started.url, ports: started.servers.map(({ port }) => port), [Symbol.asyncDispose]: end };
  },
  postgres: server(startPostgres),
  mysql: server(startMariadb),
  etcd: server(startEtcd),
  // Sessions lapse in steps of the tick.
  zookeeper: server(() => startZookeeper({ tickTime: '200' }), `?sessionTimeout=${TTL}`),
} as const satisfies Partial<Record<Engine, () => Promise<Site>>>;

export type LeadingEngine = keyof typeof SITES;
export const ALL = Object.keys(SITES) as LeadingEngine[];
/** Those that tell observers of changes. */
export const TELLING: readonly LeadingEngine[] = ['etcd', 'zookeeper'];
/** Those that are reached over a link, which can fail. */
export const LINKED = ALL.filter((engine) => engine !== 'file');
