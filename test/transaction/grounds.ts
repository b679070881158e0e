import { createPool, type Pool, type PoolConnection } from 'mysql2/promise';
import pg from 'pg';
import type { DialectName, Query } from '../../src/transaction/index.ts';
import { startMariadb } from '../kit/mariadb.ts';
import { startMysql } from '../kit/mysql.ts';
import { startPostgres } from '../kit/postgres.ts';
import type { Part } from '../kit/selection.ts';
import type { Server } from '../kit/server.ts';

/** A pool of a driver, as a caller would use it. */
export interface Database {
  query: Query;
  /** `fn` in a transaction of its own: committed if it returns, rolled back if it throws. */
  within<T>(fn: (query: Query) => Promise<T>, isolation?: string): Promise<T>;
  end(): Promise<void>;
}

function ofPostgres(url: string): Database {
  const pool = new pg.Pool({ connectionString: url });
  return {
    query: (sql, params) => pool.query(sql, [...params]),
    async within(fn, isolation) {
      const client = await pool.connect();
      try {
        await client.query(isolation ? `BEGIN ISOLATION LEVEL ${isolation}` : 'BEGIN');
        const result = await fn((sql, params) => client.query(sql, [...params]));
        await client.query('COMMIT');
        return result;
      } catch (error) {
        await client.query('ROLLBACK');
        throw error;
      } finally {
        client.release();
      }
    },
    end: () => pool.end(),
  };
}

/** `execute` sends values beside the text, `query` inside it: callers use either. */
function ofMysql(how: 'execute' | 'query') {
  return (url: string): Database => {
    const pool = createPool(url);
    const send = (client: Pool | PoolConnection, sql: string, params: readonly unknown[]): Promise<unknown> =>
      how === 'query' ? client.query(sql, params as unknown[]) : client.execute(sql, params as string[]);
    return {
      query: (sql, params) => send(pool, sql, params),
      async within(fn, isolation) {
        const connection = await pool.getConnection();
        try {
          if (isolation) await connection.query(`SET TRANSACTION ISOLATION LEVEL ${isolation}`);
          await connection.beginTransaction();
          const result = await fn((sql, params) => send(connection, sql, params));
          await connection.commit();
          return result;
        } catch (error) {
          await connection.rollback();
          throw error;
        } finally {
          connection.release();
        }
      },
      end: () => pool.end(),
    };
  };
}

export interface Ground {
  readonly title: string;
  readonly parts: readonly Part[];
  readonly dialect: DialectName;
  readonly start: () => Promise<Server>;
  readonly open: (url: string) => Database;
}

export const GROUNDS: readonly Ground[] = [
  { title: 'PostgreSQL', parts: ['postgres'], dialect: 'postgres', start: startPostgres, open: ofPostgres },
  { title: 'MariaDB', parts: ['mysql', 'mariadb'], dialect: 'mariadb', start: startMariadb, open: ofMysql('execute') },
  { title: 'MySQL', parts: ['mysql', 'mysqld'], dialect: 'mysql', start: startMysql, open: ofMysql('execute') },
  {
    title: 'MariaDB in the words of MySQL',
    parts: ['mysql', 'mariadb'],
    dialect: 'mysql',
    start: startMariadb,
    open: ofMysql('query'),
  },
];
