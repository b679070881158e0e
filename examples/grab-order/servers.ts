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

const START: Readonly<Record<Need | DatabaseName, Start>> = {
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

  async url(need: Need | DatabaseName): Promise<string> {
    const known = this.#urls.get(need);
    if (known) return known;
    const { url } = this.#stack.use(await START[need]());
    this.#urls.set(need, url);
    return url;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }
}
