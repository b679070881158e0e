import { createPool, type Pool, type PoolOptions } from 'mysql2/promise';
import { afterAll, beforeAll } from 'vitest';
import type { MysqlSettings } from '../../kit/mysql-flags.ts';
import type { MysqlKind } from '../../kit/mysql-kinds.ts';
import type { Server } from '../../kit/server.ts';

/** A server for all tests of a file, and pools to it that end with the test file. */
export class Host {
  server!: Server;
  readonly #pools: Pool[] = [];

  async start(kind: MysqlKind, settings?: MysqlSettings): Promise<void> {
    this.server = await kind.start({ ...QUICK, ...settings });
  }

  pool(options: PoolOptions = {}): Pool {
    const pool = createPool({
      host: this.server.host,
      port: this.server.port,
      user: 'root',
      database: 'holdfast',
      ...options,
    });
    this.#pools.push(pool);
    return pool;
  }

  async close(): Promise<void> {
    await Promise.all(this.#pools.map((pool) => pool.end().catch(() => {})));
    await this.server?.[Symbol.asyncDispose]();
  }
}

/** A killed server loses nothing by it, and the disk is not what these tests are about. */
const QUICK: MysqlSettings = { 'innodb-flush-log-at-trx-commit': '2' };

/** Call it at the top of a `describe`. */
export function useServer(kind: MysqlKind, settings?: MysqlSettings): Host {
  const host = new Host();
  beforeAll(() => host.start(kind, settings), 60_000);
  afterAll(() => host.close());
  return host;
}
