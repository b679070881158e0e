import { join } from 'node:path';
import { startEtcd } from '../../test/kit/etcd.ts';
import { temporaryFolder } from '../../test/kit/folder.ts';
import { startMariadb } from '../../test/kit/mariadb.ts';
import { startPostgres } from '../../test/kit/postgres.ts';
import { startRedis, startRedisNodes, startRedisSentinel } from '../../test/kit/redis.ts';
import { startZookeeper } from '../../test/kit/zookeeper.ts';
import type { Need } from './strategies.ts';

const START: Readonly<Record<Need, () => Promise<{ readonly url: string } & (AsyncDisposable | Disposable)>>> = {
  redis: startRedis,
  sentinel: startRedisSentinel,
  redlock: () => startRedisNodes(3),
  etcd: startEtcd,
  zookeeper: startZookeeper,
  async file() {
    const folder = temporaryFolder();
    return { url: `file:${join(folder.path, 'locks.db')}`, [Symbol.dispose]: () => folder[Symbol.dispose]() };
  },
};

/** Starts what is needed when it is needed, each once. */
export class Servers implements AsyncDisposable {
  readonly #stack = new AsyncDisposableStack();
  readonly #urls = new Map<Need, string>();

  async database(kind: 'mariadb' | 'postgres'): Promise<string> {
    return this.#stack.use(await (kind === 'postgres' ? startPostgres() : startMariadb())).url;
  }

  async url(need: Need): Promise<string> {
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
