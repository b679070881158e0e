import { join } from 'node:path';
import { startEtcd } from '../../test/kit/etcd.ts';
import { temporaryFolder } from '../../test/kit/folder.ts';
import { startMariadb } from '../../test/kit/mariadb.ts';
import { startPostgres } from '../../test/kit/postgres.ts';
import { startRedis, startRedisNodes, startRedisSentinel } from '../../test/kit/redis.ts';
import { startZookeeper } from '../../test/kit/zookeeper.ts';
import type { DatabaseName } from './database.ts';
import type { Need } from './strategies.ts';

type Start = () => Promise<{ readonly url: string } & (AsyncDisposable | Disposable)>;

const inFolder =
  (scheme: string, name: string): Start =>
  async () => {
    const folder = temporaryFolder();
    return { url: `${scheme}:${join(folder.path, name)}`, [Symbol.dispose]: () => folder[Symbol.dispose]() };
  };

const START: Readonly<Record<Exclude<Need, 'url'> | DatabaseName, Start>> = {
  sqlite: inFolder('sqlite', 'orders.db'),
  mariadb: startMariadb,
  postgres: startPostgres,
  redis: startRedis,
  sentinel: startRedisSentinel,
  redlock: () => startRedisNodes(3),
  etcd: startEtcd,
  zookeeper: startZookeeper,
  file: inFolder('file', 'locks.db'),
};

/** Starts what is needed when it is needed, each once. */
export class Servers implements AsyncDisposable {
  readonly #stack = new AsyncDisposableStack();
  readonly #urls = new Map<Need | DatabaseName, string>();

  /** @param url of an engine of the user's own */
  constructor(url?: string) {
    if (url !== undefined) this.#urls.set('url', url);
  }

  async url(need: Need | DatabaseName): Promise<string> {
    const known = this.#urls.get(need);
    if (known) return known;
    if (need === 'url') throw new Error('the strategies url and url-spin need --url <where the locks are>');
    const { url } = this.#stack.use(await START[need]());
    this.#urls.set(need, url);
    return url;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }
}
