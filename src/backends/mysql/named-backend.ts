import {
  type Backend,
  type Clock,
  checkNames,
  checkPrefix,
  type Finding,
  MAX_DURATION_MS,
  namesOf,
  systemClock,
  type Traits,
} from '../../core/index.ts';
import { SessionLocks } from '../shared/session-locks.ts';
import { SESSION_TRAITS } from '../shared/traits.ts';
import { findings } from './check.ts';
import { translateError } from './errors.ts';
import { type NamedSession, NamedSessions } from './named-session.ts';
import { busyPool, type MysqlPool } from './pool.ts';
import { Table } from './table.ts';

const NAME = 'mysql-named';

/** Options of `mysqlNamed`. */
export interface MysqlNamedOptions {
  /** Becomes a part of the name of every lock. Default `holdfast`. */
  readonly prefix?: string;
  /** The table of the tokens: `table` or `database.table`. Default `holdfast_lines`. */
  readonly table?: string;
  /** Time and randomness; the machine's by default. */
  readonly clock?: Clock;
}

const KNOWN = namesOf<MysqlNamedOptions>({ prefix: true, table: true, clock: true });

/**
 * The server's own named locks (GET_LOCK), without a lease: a lock is free at once when its connection ends. Each hold and each waiter
 * has a connection of the pool to itself, so give this backend a pool of its own.
 * @throws LockError `LOCK_INVALID` when `pool` is no pool, or for a bad option
 * @example
 * import { createPool } from 'mysql2/promise';
 * const locks = createLocks(mysqlNamed(createPool('mysql://app@127.0.0.1/shop')));
 */
export function mysqlNamed(pool: MysqlPool, options: MysqlNamedOptions = {}): Backend {
  checkNames(options, KNOWN, 'options of mysqlNamed()');
  return new NamedLocks(pool, options);
}

class NamedLocks extends SessionLocks<NamedSession> implements Backend {
  readonly name = NAME;
  readonly traits: Traits = { ...SESSION_TRAITS, units: 'exclusive', ttl: { min: 1, max: MAX_DURATION_MS } };
  readonly #table: Table;
  readonly #pool: MysqlPool;

  constructor(pool: MysqlPool, options: MysqlNamedOptions) {
    const { prefix = 'holdfast', table: name = 'holdfast_lines', clock = systemClock } = options;
    const table = new Table(pool, name, clock, NAME);
    checkPrefix(prefix);
    super(
      new NamedSessions(table, clock),
      (key) => `${prefix}/${key}`,
      (error) => translateError(error, NAME),
    );
    this.#pool = pool;
    this.#table = table;
  }

  obstacle(): string | undefined {
    return busyPool(this.#pool);
  }

  check(): Promise<Finding[]> {
    return findings(this.#table);
  }

  override async close(): Promise<void> {
    await super.close();
    this.#table.server.close();
  }
}
