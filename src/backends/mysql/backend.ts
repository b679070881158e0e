import {
  type Backend,
  type Claim,
  type Clock,
  checkNames,
  checkPrefix,
  type Finding,
  type Hints,
  type Listing,
  MAX_DURATION_MS,
  milliseconds,
  namesOf,
  type QueueEntry,
  type Renewal,
  systemClock,
  type Traits,
  type Values,
  type Wake,
} from '../../core/index.ts';
import { QUEUE_TRAITS } from '../shared/traits.ts';
import { findings } from './check.ts';
import { Poller } from './poller.ts';
import { busyPool, endPoolOfOne, isEnded, type MysqlPool, type PoolOfOne, poolOfOne } from './pool.ts';
import { Queues } from './queues.ts';
import { QueueSteps } from './steps.ts';
import { Table } from './table.ts';
import { Renewals, Sweeper } from './upkeep.ts';
import { ServerWakeUps } from './wake-ups.ts';

const { placeTtl: _, ...QUEUE } = QUEUE_TRAITS;
const TRAITS: Traits = { ...QUEUE, wakes: 'buffered', ttl: { min: 10, max: MAX_DURATION_MS } };

/** Options of `mysql`. */
export interface MysqlOptions {
  /** The first part of the name of every key. Default `holdfast`. */
  readonly prefix?: string;
  /** The table: `table` or `database.table`. Default `holdfast_lines`. */
  readonly table?: string;
  /** ms between two looks at the queues in which this process waits. Default 25. */
  readonly poll?: number;
  /** Keeps a connection of the pool for notifications, so a hand-over takes 1 to 2 ms and not a poll. Default false. */
  readonly gate?: boolean;
  /** ms after which a sweep may remove the row of a key that nobody uses. A new row of the key begins above the old tokens. Default 10 minutes. */
  readonly idle?: number;
  /** ms between two sweeps; one process sweeps for all. Default 5 minutes; 0: this process never sweeps by itself. */
  readonly sweep?: number;
  /**
   * Whether renewals go over a connection of their own, outside the pool, so they never wait for statements of the application. The first renewal
   * opens it; while it is broken, renewals go over the pool. Default true for a pool of mysql2. A pool of `mariadb` does not show how to open a
   * connection like its own, so true is refused there.
   */
  readonly ownConnection?: boolean;
  /** Time and randomness; the machine's by default. */
  readonly clock?: Clock;
}

const KNOWN = namesOf<MysqlOptions>({
  ...{ prefix: true, table: true, poll: true, gate: true, idle: true, sweep: true },
  ...{ ownConnection: true, clock: true },
});

/**
 * Locks in a table, with calls that make the table, sweep it, and check the server.
 * @example
 * const backend = mysql(pool);
 * await backend.setup(); // by a user that may create tables
 * const gone = await backend.sweep();
 * const findings = await backend.check();
 */
export interface MysqlBackend extends Backend {
  /** Makes the table, if it is missing. The first use of the backend also does so, if the user may create tables. */
  setup(): Promise<void>;
  /** Removes the rows of idle keys. @returns how many rows */
  sweep(): Promise<number>;
  /** What endangers locks on this server. */
  check(): Promise<Finding[]>;
}

/**
 * Keeps one queue per key, in one table. Locks are fair and fenced; leases go by the server's clock.
 * @throws LockError `LOCK_INVALID` when `pool` is no pool, or for a bad option
 * @example
 * import { createPool } from 'mysql2/promise';
 * const locks = createLocks(mysql(createPool('mysql://app@127.0.0.1/shop')));
 */
export function mysql(pool: MysqlPool, options: MysqlOptions = {}): MysqlBackend {
  checkNames(options, KNOWN, 'options of mysql()');
  return new Mysql(pool, options);
}

class Mysql extends QueueSteps implements MysqlBackend {
  readonly name = 'mysql';
  readonly traits = TRAITS;
  readonly hints: Hints;
  readonly values: Values;
  readonly #pool: MysqlPool;
  readonly #own: PoolOfOne | undefined;
  readonly #renewals: Renewals;
  readonly #sweeper: Sweeper;

  constructor(pool: MysqlPool, options: MysqlOptions) {
    const { table = 'holdfast_lines', poll = 25, gate = false, ownConnection, clock = systemClock } = options;
    const prefix = checkPrefix(options.prefix ?? 'holdfast');
    const queuesOver = (given: MysqlPool) => new Queues(new Table(given, table, clock, 'mysql'), prefix);
    const queues = queuesOver(pool);
    const own = poolOfOne(pool, ownConnection);
    const pause = milliseconds(poll, 'poll', { min: 1, max: MAX_DURATION_MS });
    const poller = new Poller(clock, pause, (keys) => queues.read(keys));
    super(queues, poller, gate ? new ServerWakeUps(queues, clock, () => poller.hurry()) : undefined);
    this.#pool = pool;
    this.#own = own;
    this.#renewals = new Renewals(queues, own && queuesOver(own), clock);
    this.#sweeper = new Sweeper(queues, clock, options.idle, options.sweep);
    this.hints = queues.hints;
    this.values = queues.values;
  }

  setup(): Promise<void> {
    return this.queues.table.ready();
  }

  sweep(): Promise<number> {
    return this.#sweeper.sweep();
  }

  renew(claims: readonly Claim[]): Promise<Renewal[]> {
    return this.#renewals.renew(claims);
  }

  obstacle(): string | undefined {
    return busyPool(this.#pool);
  }

  ended(): boolean {
    return isEnded(this.#pool);
  }

  watch(claim: Claim, wake: Wake, age?: number): AsyncDisposable {
    this.gate?.listen();
    return this.poller.watch(claim, wake, age);
  }

  watchHold(claim: Claim, wake: Wake): AsyncDisposable {
    this.gate?.listen();
    return this.poller.watchHold(claim, wake);
  }

  inspect(prefix: string, listing: Listing = {}): AsyncIterable<QueueEntry> {
    return this.queues.inspect(prefix, listing);
  }

  check(): Promise<Finding[]> {
    return findings(this.queues.table);
  }

  async close(): Promise<void> {
    this.poller.close();
    this.#sweeper.close();
    await this.gate?.close();
    this.#renewals.close();
    if (this.#own) endPoolOfOne(this.#own);
    this.queues.table.server.close();
  }
}
