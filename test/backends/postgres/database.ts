import pg from 'pg';
import type { Faults } from '../../../products/testing/index.ts';
import type { AdvisoryBackend, PostgresBackend } from '../../../src/backends/postgres/index.ts';
import { EXCLUSIVE } from '../../../src/core/contract/admission.ts';
import type { Backend, Claim } from '../../../src/core/contract/backend.ts';
import { systemClock } from '../../../src/core/contract/clock.ts';
import { type PostgresSettings, startPostgres } from '../../kit/postgres.ts';
import { type FaultProxy, startProxy } from '../../kit/proxy.ts';
import type { Server } from '../../kit/server.ts';

/** Nothing here outlives its server. */
const QUICK: PostgresSettings = { fsync: 'off' };

export const ACCOUNT = { user: 'postgres', database: 'postgres', max: 5 };

interface Client {
  readonly pool: pg.Pool;
  readonly proxy: FaultProxy;
}

/** A server, and clients of it that can be hurt one by one. */
export class Database implements AsyncDisposable {
  readonly server: Server;
  /** Undisturbed, as the superuser, where the tables of holdfast need no schema before their names. */
  readonly admin: pg.Pool;
  readonly #clients = new Map<Backend, Client>();

  private constructor(server: Server) {
    this.server = server;
    this.admin = new pg.Pool({ connectionString: server.url, max: 4, options: '-c search_path=holdfast,public' });
    this.admin.on('error', () => {});
  }

  static async start(settings: PostgresSettings = QUICK): Promise<Database> {
    return new Database(await startPostgres(settings));
  }

  /** A backend on a pool and a network path of its own. The pool outlives it, as a user's does. */
  async open<B extends PostgresBackend | AdvisoryBackend>(
    make: (pool: pg.Pool) => B,
    config: pg.PoolConfig = {},
  ): Promise<B> {
    const proxy = await startProxy(this.server.port);
    const { host, port } = proxy;
    const pool = new pg.Pool({ host, port, ...ACCOUNT, idleTimeoutMillis: 1_000, ...config });
    pool.on('error', () => {});
    const backend = make(pool);
    this.#clients.set(backend, { pool, proxy });
    return backend;
  }

  client(backend: Backend): Client {
    return this.#clients.get(backend)!;
  }

  readonly faults: Faults = {
    die: async (backend) => {
      const { proxy } = this.client(backend);
      proxy.refuse(); // the dead do not come back
      proxy.cut();
    },
    stall: async (backend) => {
      const { proxy } = this.client(backend);
      proxy.stall('up');
      return () => proxy.pass();
    },
  };

  /** Runs SQL as the superuser. */
  async sql(text: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
    return (await this.admin.query(text, values)).rows;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const [backend, { pool, proxy }] of this.#clients) {
      await backend.close();
      await pool.end();
      await proxy[Symbol.asyncDispose]();
    }
    await this.admin.end();
    await this.server[Symbol.asyncDispose]();
  }
}

export const claimOf = (key: string, wish: Partial<Claim> = {}): Claim => ({
  key,
  id: systemClock.id(),
  ...EXCLUSIVE,
  ttl: 30_000,
  queue: true,
  tokenCount: 1,
  within: 10_000,
  label: '',
  ...wish,
});
