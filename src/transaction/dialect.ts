import { invalid, type LockErrorCode, shown } from '../core/errors.ts';

export type DialectName = 'postgres' | 'mysql' | 'mariadb';

/** How a limit is put on waiting for a row: in the statement, or by a setting that is put back afterwards. */
export type WaitLimit =
  | { readonly clause: (ms: number) => string }
  | { readonly read: string; readonly write: (value: string) => string; readonly value: (ms: number) => string };

/** What differs between the servers, as data. */
export interface Dialect {
  readonly quote: string;
  /** The nth placeholder, from 1. */
  readonly mark: (n: number) => string;
  readonly limit: WaitLimit;
  /** By SQLSTATE or error number. */
  readonly errors: Readonly<Record<string, LockErrorCode>>;
}

const seconds = (ms: number): number => Math.max(1, Math.ceil(ms / 1_000));

const ERRORS_OF_MYSQL: Dialect['errors'] = { 1205: 'LOCK_TIMEOUT', 3572: 'LOCK_TIMEOUT', 1213: 'LOCK_DEADLOCK' };

const DIALECTS: Readonly<Record<DialectName, Dialect>> = {
  postgres: {
    quote: '"',
    mark: (n) => `$${n}`,
    limit: {
      read: "SELECT current_setting('lock_timeout') AS was",
      // Of this transaction only: a rollback ends it, too, and after a time-out nothing but a rollback is possible.
      write: (value) => `SELECT set_config('lock_timeout', '${value}', true)`,
      value: (ms) => `${Math.min(Math.ceil(ms), 2 ** 31 - 1)}ms`,
    },
    errors: { '55P03': 'LOCK_TIMEOUT', '40P01': 'LOCK_DEADLOCK' },
  },
  mysql: {
    quote: '`',
    mark: () => '?',
    limit: {
      read: 'SELECT @@SESSION.innodb_lock_wait_timeout AS was',
      write: (value) => `SET SESSION innodb_lock_wait_timeout = ${value}`,
      value: (ms) => `${seconds(ms)}`,
    },
    errors: ERRORS_OF_MYSQL,
  },
  mariadb: {
    quote: '`',
    mark: () => '?',
    limit: { clause: (ms) => ` WAIT ${seconds(ms)}` },
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
