import { startMariadb } from './mariadb.ts';
import { startMysql } from './mysql.ts';
import type { MysqlSettings } from './mysql-flags.ts';
import type { Need } from './programs.ts';
import type { Server } from './server.ts';
import { describeOn } from './suite.ts';

/** A server that speaks the protocol of MySQL. */
export interface MysqlKind {
  readonly name: 'MariaDB' | 'MySQL';
  readonly dialect: 'mariadb' | 'mysql';
  /** As `describeOn` knows it. */
  readonly need: 'mariadb' | 'mysqld';
  /** The user is root, without a password. */
  start(settings?: MysqlSettings): Promise<Server>;
}

export const MYSQL_KINDS: readonly MysqlKind[] = [
  { name: 'MariaDB', dialect: 'mariadb', need: 'mariadb', start: startMariadb },
  { name: 'MySQL', dialect: 'mysql', need: 'mysqld', start: startMysql },
];

/** `describeOn` the engine, once on each kind of server. @param also what it needs beside the server */
export function describeOnMysql(title: string, body: (kind: MysqlKind) => void, also: readonly Need[] = []): void {
  for (const kind of MYSQL_KINDS)
    describeOn(['mysql', kind.need, ...also], `${title}, on ${kind.name}`, () => body(kind));
}
