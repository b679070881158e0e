import { invalid, type LockErrorCode, shown } from '../core/contract/errors.ts';

/** Which SQL a database speaks. */
export type DialectName = 'postgres' | 'mysql' | 'mariadb';

/**
 * Limits the wait for rows: in the statement, or also by a setting that is restored afterwards. A server's own limit is for each wait,
 * and a statement may wait for one transaction after another. So the statement has a limit, too.
 */
export interface WaitLimit {
  readonly select: (select: string, ms: number) => string;
  readonly setting?: {
    readonly read: string;
    readonly set: (ms: number) => string;
    readonly restore: (was: string) => string;
  };
}

/** The differences between the servers, as data. */
export interface Dialect {
  readonly quote: string;
  /** The nth placeholder, from 1. */
  readonly mark: (n: number) => string;
  readonly limit: WaitLimit;
  /** How a row is made once. */
  readonly keep: {
    /** Ends an INSERT that gives a row unless one is there; empty: the server refuses a second row, and the transaction goes on. */
    readonly unlessThere: string;
    /** Ends a SELECT: it gives what was committed last, also where the transaction reads from an older snapshot. */
    readonly latest: string;
  };
  /** Meanings of errors, by SQLSTATE or error number. */
  readonly errors: Readonly<Record<string, LockErrorCode>>;
}

const seconds = (ms: number): number => Math.max(1, Math.ceil(ms / 1_000));

/** ER_LOCK_WAIT_TIMEOUT, NOWAIT, ER_QUERY_TIMEOUT, and ER_STATEMENT_TIMEOUT of MariaDB. */
const ERRORS_OF_MYSQL: Dialect['errors'] = {
  1205: 'LOCK_TIMEOUT',
  3572: 'LOCK_TIMEOUT',
  3024: 'LOCK_TIMEOUT',
  1969: 'LOCK_TIMEOUT',
  1213: 'LOCK_DEADLOCK',
};

/** The longest limits of PostgreSQL and MySQL, ms, and of MariaDB's statements, s. */
const LONGEST = 2 ** 31 - 1;
const LONGEST_STATEMENT = 31_536_000;
const whole = (ms: number): number => Math.min(Math.max(1, Math.ceil(ms)), LONGEST);

/** INSERT IGNORE would take other errors for a row that is there. */
const KEEP_OF_MYSQL: Dialect['keep'] = { unlessThere: '', latest: ' LOCK IN SHARE MODE' };

const DIALECTS: Readonly<Record<DialectName, Dialect>> = {
  postgres: {
    quote: '"',
    mark: (n) => `$${n}`,
    limit: {
      select: (select) => select,
      // For this transaction only. A rollback restores it, too, and after a time-out only a rollback is possible. A shorter limit of the
      // caller stays.
      setting: {
        read: "SELECT current_setting('lock_timeout') || ' ' || current_setting('statement_timeout') AS was",
        set: (ms) =>
          `SELECT set_config(name, CASE WHEN name = 'statement_timeout' AND setting::bigint BETWEEN 1 AND ${whole(ms)} THEN setting ELSE '${whole(ms)}' END, true) FROM pg_settings WHERE name IN ('lock_timeout', 'statement_timeout')`,
        restore: (was) => {
          const [lock, statement] = was.split(' ');
          return `SELECT set_config('lock_timeout', '${lock}', true), set_config('statement_timeout', '${statement}', true)`;
        },
      },
    },
    keep: { unlessThere: ' ON CONFLICT DO NOTHING RETURNING 1 AS made', latest: '' },
    // The caller's own limit may end a statement, too. Only lockRow can tell which limit it was (CANCELLED).
    errors: { '55P03': 'LOCK_TIMEOUT', '40P01': 'LOCK_DEADLOCK' },
  },
  mysql: {
    quote: '`',
    mark: () => '?',
    limit: {
      select: (select, ms) => select.replace(/^SELECT/, `SELECT /*+ MAX_EXECUTION_TIME(${whole(ms)}) */`),
      setting: {
        read: 'SELECT @@SESSION.innodb_lock_wait_timeout AS was',
        set: (ms) => `SET SESSION innodb_lock_wait_timeout = ${seconds(ms)}`,
        restore: (was) => `SET SESSION innodb_lock_wait_timeout = ${was}`,
      },
    },
    keep: KEEP_OF_MYSQL,
    errors: ERRORS_OF_MYSQL,
  },
  mariadb: {
    quote: '`',
    mark: () => '?',
    limit: {
      select: (select, ms) =>
        `SET STATEMENT max_statement_time = ${Math.min(whole(ms) / 1_000, LONGEST_STATEMENT)} FOR ${select} WAIT ${seconds(ms)}`,
    },
    keep: KEEP_OF_MYSQL,
    errors: ERRORS_OF_MYSQL,
  },
};

/** @throws LockError `LOCK_INVALID` */
export function dialectOf(name: DialectName): Dialect {
  if (!Object.hasOwn(DIALECTS, name)) {
    throw invalid(`dialect is ${shown(name)}; it must be one of ${Object.keys(DIALECTS).join(', ')}`);
  }
  return DIALECTS[name];
}
