import type { Backend } from '../../src/index.ts';
import type { DialectName } from '../../src/transaction/index.ts';
import { openMariadb, openPostgres } from './database-servers.ts';
import { openSqlite } from './sqlite.ts';

/** One statement; what the driver gives. */
export type Query = (sql: string, params: (string | number)[]) => Promise<unknown>;

/** The service's own database, whatever it is. */
export interface Database {
  /** The nth placeholder, from 1. */
  readonly mark: (n: number) => string;
  readonly query: Query;
  end(): Promise<void>;
}

/** One that can lock: a server. */
export interface DatabaseServer extends Database {
  readonly dialect: DialectName;
  transaction<T>(work: (query: Query) => Promise<T>): Promise<T>;
  /** The database's own locks by name: each hold and each waiter has a connection, so they get a pool of their own. */
  namedLocks(): Backend;
}

export const DATABASES = ['sqlite', 'mariadb', 'postgres'] as const;
export type DatabaseName = (typeof DATABASES)[number];

/** @param url `mysql://…` (MySQL, MariaDB), `postgres://…`, or `sqlite:…` and a path */
export function openDatabase(url: string): Database | DatabaseServer {
  if (url.startsWith('sqlite:')) return openSqlite(url.slice('sqlite:'.length));
  return url.startsWith('postgres:') ? openPostgres(url) : openMariadb(url);
}
