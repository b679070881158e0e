import { createPool, type Pool } from 'mysql2/promise';
import pg from 'pg';
import { mysqlNamed } from '../../src/backends/mysql/index.ts';
import { postgresAdvisory } from '../../src/backends/postgres/index.ts';
import type { DatabaseServer, Query } from './database.ts';

interface Connection {
  query(sql: string, params?: unknown[]): Promise<unknown>;
  release(): void;
}

async function within<T>(connection: Connection, work: (query: Query) => Promise<T>): Promise<T> {
  try {
    await connection.query('BEGIN');
    const result = await work((sql, params) => connection.query(sql, [...params]));
    await connection.query('COMMIT');
    return result;
  } catch (error) {
    await connection.query('ROLLBACK').catch(() => {});
    throw error;
  } finally {
    connection.release();
  }
}

const CONNECTIONS = 40;

type Pg = InstanceType<typeof pg.Pool>;

async function ended(...pools: { end(): Promise<void> }[]): Promise<void> {
  await Promise.all(pools.map((pool) => pool.end()));
}

export function openPostgres(url: string): DatabaseServer {
  const [pool, lockPool] = [1, 2].map(() => new pg.Pool({ connectionString: url, max: CONNECTIONS })) as [Pg, Pg];
  for (const each of [pool, lockPool]) each.on('error', () => {}); // the next query tells
  return {
    dialect: 'postgres',
    mark: (n) => `$${n}`,
    query: (sql, params) => pool.query(sql, [...params]),
    transaction: async (work) => within(await pool.connect(), work),
    namedLocks: () => postgresAdvisory(lockPool),
    end: () => ended(pool, lockPool),
  };
}

export function openMariadb(url: string): DatabaseServer {
  const [pool, lockPool] = [1, 2].map(() => createPool({ uri: url, connectionLimit: CONNECTIONS })) as [Pool, Pool];
  return {
    dialect: 'mariadb',
    mark: () => '?',
    query: (sql, params) => pool.query(sql, [...params]),
    transaction: async (work) => within(await pool.getConnection(), work),
    namedLocks: () => mysqlNamed(lockPool),
    end: () => ended(pool, lockPool),
  };
}
