import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { drizzle as drizzleMysql } from 'drizzle-orm/mysql2';
import { drizzle as drizzlePostgres } from 'drizzle-orm/node-postgres';
import knex from 'knex';
import { Kysely, MysqlDialect, PostgresDialect } from 'kysely';
import { createPool as createCallbackPool } from 'mysql2';
import { createPool } from 'mysql2/promise';
import pg from 'pg';
import { Sequelize } from 'sequelize';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fenced, sqlFence } from '../../src/fence/index.ts';
import { changeRow, keepIn, lockRow, type Query, queryOf, retryStale, STALE } from '../../src/transaction/index.ts';
import { MYSQL_KINDS } from '../kit/mysql-kinds.ts';
import { startPostgres } from '../kit/postgres.ts';
import type { Server } from '../kit/server.ts';
import { describeOn } from '../kit/suite.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = join(import.meta.dirname, '.tmp', `${process.pid}`);

/** The functions that the guide shows, as they stand there. */
async function shown(): Promise<Record<string, (...args: never[]) => Query>> {
  const page = readFileSync(join(root, 'docs/guides/locks-in-your-transaction.md'), 'utf8');
  mkdirSync(folder, { recursive: true });
  const found: Record<string, (...args: never[]) => Query> = {};
  for (const [, block] of page.matchAll(/^```typescript\n([\s\S]*?)^```$/gm)) {
    const name = /^export function (\w+)/m.exec(block!)?.[1];
    if (name === undefined) continue;
    const file = join(folder, `${name}.ts`);
    writeFileSync(file, block!);
    found[name] = (await import(pathToFileURL(file).href))[name];
  }
  return found;
}

/** Its work gets the transaction as the library gives it, where it gives one. */
type Within = <T>(work: (query: Query, transaction?: object) => Promise<T>) => Promise<T>;
type Open = (url: string, guide: Awaited<ReturnType<typeof shown>>, stack: AsyncDisposableStack) => Promise<Within>;
type Engine = 'postgres' | 'mysql';

const LIBRARIES: Readonly<Record<string, (engine: Engine) => Open>> = {
  Drizzle: (engine) => async (url, _guide, stack) => {
    const pool = engine === 'postgres' ? new pg.Pool({ connectionString: url }) : createPool(url);
    stack.defer(() => pool.end());
    const db = engine === 'postgres' ? drizzlePostgres(pool as pg.Pool) : drizzleMysql(pool as never);
    return (work) => db.transaction((tx) => work(queryOf(tx), tx));
  },
  Kysely: (engine) => async (url, _guide, stack) => {
    const dialect =
      engine === 'postgres'
        ? new PostgresDialect({ pool: new pg.Pool({ connectionString: url }) })
        : new MysqlDialect({ pool: createCallbackPool(url) });
    const db = new Kysely<object>({ dialect });
    stack.defer(() => db.destroy());
    return (work) => db.transaction().execute((trx) => work(queryOf(trx), trx));
  },
  TypeORM: (engine) => async (url, _guide, stack) => {
    const source = await new DataSource({ type: engine, url }).initialize();
    stack.defer(() => source.destroy());
    return (work) => source.transaction((manager) => work(queryOf(manager), manager));
  },
  'TypeORM, without the structured result': (engine) => async (url, _guide, stack) => {
    const source = await new DataSource({ type: engine, url }).initialize();
    stack.defer(() => source.destroy());
    return (work) => source.transaction((manager) => work((text, params) => manager.query(text, params)));
  },
  Knex: (engine) => async (url, _guide, stack) => {
    const db = knex({ client: engine === 'postgres' ? 'pg' : 'mysql2', connection: url });
    stack.defer(() => db.destroy());
    return (work) => db.transaction((trx) => work(queryOf(trx), trx));
  },
  Sequelize: () => async (url, guide, stack) => {
    const sequelize = new Sequelize(url, { logging: false });
    stack.defer(() => sequelize.close());
    return (work) => sequelize.transaction((tx) => work(guide.queryOfSequelize!(sequelize as never, tx as never)));
  },
};

const SITES = [
  { dialect: 'postgres', engine: 'postgres', parts: ['postgres'], start: startPostgres },
  ...MYSQL_KINDS.map(({ dialect, need, start }) => ({
    ...({ dialect, engine: 'mysql' } as const),
    parts: ['mysql', need] as const,
    start,
  })),
] as const;

for (const { dialect, engine, parts, start } of SITES) {
  describeOn(parts, `the guide's examples with query builders and ORMs on ${dialect}`, () => {
    let server: Server;
    let guide: Awaited<ReturnType<typeof shown>>;
    beforeAll(async () => {
      server = await start();
      guide = await shown();
    }, 60_000);
    afterAll(async () => {
      await server?.[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    });

    for (const [name, library] of Object.entries(LIBRARIES)) {
      test(`${name}: rows are locked and read, changes are counted, results are kept, and refusals are understood`, async () => {
        await using stack = new AsyncDisposableStack();
        const within = await library(engine)(server.url, guide, stack);
        const table = `orders_${Object.keys(LIBRARIES).indexOf(name)}`;
        await within((query) =>
          query(`CREATE TABLE ${table} (id INT PRIMARY KEY, state VARCHAR(20), version INT NOT NULL)`, []),
        );
        await within((query) => query(`INSERT INTO ${table} VALUES (1, 'new', 1), (2, 'new', 1)`, []));
        const orders = { dialect, table } as const;

        await within(async (query) => {
          expect(await lockRow(query, { ...orders, where: { id: 1 }, wait: '2s' })).toMatchObject({ state: 'new' });
          const second = within((other) => lockRow(other, { ...orders, where: { id: 1 }, wait: 0 }));
          await expect(second, 'a locked row').rejects.toMatchObject({ code: 'LOCK_TIMEOUT' });
        });
        const change = { ...orders, where: { id: 1 }, version: 1, set: { state: 'paid' } };
        expect(await within((query) => changeRow(query, change))).toBe(2);
        expect(await within((query) => changeRow(query, change))).toBe(STALE);

        let tries = 0;
        const met = Promise.withResolvers<void>();
        const cross = (first: number, second: number) =>
          retryStale(() =>
            within(async (query) => {
              await lockRow(query, { ...orders, where: { id: first } });
              if (++tries === 2) met.resolve();
              await met.promise;
              // Of its own, not by lockRow: the library's error has to be recognised.
              await query(`UPDATE ${table} SET version = version + 1 WHERE id = ${second}`, []);
              return true;
            }),
          );
        expect(await Promise.all([cross(1, 2), cross(2, 1)]), 'a deadlock is tried again').toEqual([true, true]);
        expect(tries).toBeGreaterThan(2);

        const key = engine === 'postgres' ? 'key text' : '`key` varbinary(512)';
        await within((query) =>
          query(`CREATE TABLE ${table}_r (${key} PRIMARY KEY, mark varchar(64), value text)`, []),
        );
        const kept = (value: number) =>
          within((query) => keepIn(query, { dialect, table: `${table}_r`, key: 'x' }, () => value));
        expect([await kept(1), await kept(2)], 'a result is kept').toEqual([
          { value: 1, ran: true },
          { value: 1, ran: false },
        ]);

        const setup = await within(async (query) => sqlFence(query, 'x', { dialect, table: `${table}_f` }).setup());
        expect(setup).toBeUndefined();
        const claim = (token: bigint) =>
          within((query, tx = query) => fenced(tx, { token }, 'x', () => 'done', { dialect, table: `${table}_f` }));
        expect(await claim(2n)).toBe('done');
        await expect(claim(1n)).rejects.toMatchObject({ code: 'LOCK_FENCED' });
      });
    }
  });
}
