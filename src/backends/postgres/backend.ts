import {
  type Attempt,
  type Backend,
  type Claim,
  type Finding,
  type Handle,
  type Hints,
  type Listing,
  MAX_DURATION_MS,
  type NewValue,
  onceFor,
  type QueueEntry,
  type Release,
  type Renewal,
  systemClock,
  type Traits,
  type Values,
} from '../../core/index.ts';
import { QUEUE_TRAITS } from '../shared/traits.ts';
import { tableFindings } from './check.ts';
import { type PostgresClient, poolOf } from './clients.ts';
import { checkTable, naming, type PostgresOptions } from './options.ts';
import { busyPool, dialLike, dialOf, isEnded, isTrue, type PgPool } from './pool.ts';
import { open, setup } from './schema.ts';
import { Server } from './server.ts';
import { attemptOf, entries, fieldsOf, hintsOf, storedValuesOf, take, valuesOf } from './statements.ts';
import { IDLE_MS, Renewals, Sweeper } from './upkeep.ts';
import { Notifications } from './wake-ups.ts';

const TRAITS: Traits = { ...QUEUE_TRAITS, wakes: 'buffered', ttl: { min: 10, max: MAX_DURATION_MS } };

/** Locks in tables, with calls that make the tables and sweep them. */
export interface PostgresBackend extends Backend {
  /**
   * Makes what is missing. It may run again, and in many processes at once. The role needs the right to create.
   * @example await postgres(pool, { setup: 'manual' }).setup(); // in a migration
   */
  setup(): Promise<void>;
  /**
   * Removes expired claims, and keys unused for `idle` ms (default 600,000). About once a minute, one of the processes does so by itself.
   * @returns how many keys were removed
   * @example const gone = await postgres(pool).sweep();
   */
  sweep(idle?: number): Promise<number>;
}

/**
 * Keeps the queues in tables. Each step is one statement and one transaction, and needs a connection of the pool only for that time. A claim
 * is notified by NOTIFY when it is admitted. The pool stays open.
 * @param client a pool of `pg`, or a client of `postgres` (postgres.js), PGlite or Bun.SQL
 * @throws LockError `LOCK_INVALID` when `client` is none of them, or for a bad option
 * @example
 * import pg from 'pg';
 * const locks = createLocks(postgres(new pg.Pool()));
 */
export function postgres(client: PostgresClient, options: PostgresOptions = {}): PostgresBackend {
  checkTable(options);
  return new Postgres(client, options);
}

class Postgres implements PostgresBackend {
  readonly name = 'postgres';
  readonly traits: Traits;
  readonly watch: Backend['watch'];
  readonly watchHold: Backend['watchHold'];
  readonly hints: Hints;
  readonly values: Values;
  readonly #pool: PgPool;
  readonly #server: Server;
  readonly #notifications: Notifications | undefined;
  readonly #sweeper: Sweeper;
  readonly #renewals: Renewals;
  /** Checks the tables before the first statement of this process. */
  readonly #open: () => Promise<void>;

  constructor(client: PostgresClient, options: PostgresOptions) {
    const { setup = 'auto', connect, clock = systemClock, pooler, ownConnection } = options;
    const { pool, listen } = poolOf(client, clock);
    const create = setup === 'auto';
    const server = new Server(pool, naming(options), clock, this.name);
    const dial = connect === false ? undefined : (connect ?? dialLike(pool) ?? (listen && { listen }));
    const notifications = dial && new Notifications(dial, clock, server.named('{evictions}'), pooler === 'session');
    this.#pool = pool;
    this.#server = server;
    this.hints = hintsOf(server, () => this.#open());
    this.values = storedValuesOf(server, () => this.#open());
    this.#sweeper = new Sweeper(server);
    const dialOwn = ownConnection ? dialOf(pool, connect) : typeof dial === 'function' ? dial : undefined;
    this.#renewals = new Renewals(server, ownConnection === false ? undefined : dialOwn, () => notifications?.session);
    this.#notifications = notifications;
    this.watch = notifications && ((claim, wake, age) => notifications.watch(claim, wake, age));
    this.watchHold = notifications && ((claim, wake, age) => notifications.watchHold(claim, wake, age));
    this.traits = notifications ? TRAITS : { ...TRAITS, wakes: 'never' };
    this.#open = onceFor(async () => {
      await open(server, create);
      this.#sweeper.begin();
    });
  }

  async attempt(claim: Claim): Promise<Attempt> {
    const sent = this.#server.clock.now();
    await this.#open();
    return (await this.#attempt(claim, sent)).attempt;
  }

  async release({ key, id }: Handle, next?: Claim): Promise<Release> {
    const sent = this.#server.clock.now();
    await this.#open();
    const gone = [Buffer.from(key), id];
    if (!next) return { freed: isTrue(await take(this.#server, 'release', [...gone, null, null, 0], key)) };
    const { freed, attempt } = await this.#attempt(next, sent, gone);
    return { freed, next: attempt };
  }

  async store({ key, id }: Handle, { text, ttl, ageless }: NewValue): Promise<boolean> {
    await this.#open();
    const values = [Buffer.from(key), id, Buffer.from(text), ttl, ageless ? ttl : 0];
    const [, stored] = fieldsOf(await take(this.#server, 'release', values, key));
    return stored === 't';
  }

  async renew(claims: readonly Claim[]): Promise<Renewal[]> {
    await this.#open();
    return this.#renewals.renew(claims);
  }

  obstacle(): string | undefined {
    return busyPool(this.#pool);
  }

  ended(): boolean {
    return isEnded(this.#pool);
  }

  async *inspect(prefix: string, listing: Listing = {}): AsyncIterable<QueueEntry> {
    await this.#open();
    yield* entries(this.#server, prefix, listing);
  }

  async evict(key: string, token: bigint): Promise<boolean> {
    await this.#open();
    return isTrue(await take(this.#server, 'evict', [Buffer.from(key), String(token)], key));
  }

  check(): Promise<Finding[]> {
    return tableFindings(this.#server, this.#notifications);
  }

  setup(): Promise<void> {
    return setup(this.#server);
  }

  async sweep(idle: number = IDLE_MS): Promise<number> {
    await this.#open();
    return this.#sweeper.sweep(idle, 0);
  }

  async close(): Promise<void> {
    this.#sweeper.close();
    this.#server.close();
    await Promise.all([this.#notifications?.close(), this.#renewals.close()]);
  }

  /**
   * @param sent our clock's time when the attempt was asked for, before the check of the tables
   * @param gone key and id of a claim that is released in the same step
   */
  async #attempt(claim: Claim, sent: number, gone?: readonly unknown[]): Promise<{ freed: boolean; attempt: Attempt }> {
    const { serverClock } = this.#server;
    const values = valuesOf(claim, serverClock.in(claim.within, sent) ?? null, this.#notifications?.channel ?? null);
    const answer = gone
      ? await take(this.#server, 'exchange', [...gone, ...values], claim.key)
      : await take(this.#server, 'attempt', values, claim.key);
    const { freed, attempt, serverTime } = attemptOf(answer, claim);
    serverClock.learn(serverTime);
    if (claim.queue && !attempt.granted && attempt.ahead !== undefined) void this.#notifications?.open();
    return { freed, attempt };
  }
}
