/** Blocks that name a database, on a real one. */
import { EventEmitter } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pass } from 'node:timers/promises';
import { Kysely, PostgresDialect } from 'kysely';
import { Migrator } from 'kysely/migration';
import { createPool, type Pool } from 'mysql2/promise';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { memory } from '../../../src/backends/memory.ts';
import { postgres } from '../../../src/backends/postgres/index.ts';
import { useLocks } from '../../../src/decorator/index.ts';
import { isLockError, type Locks } from '../../../src/index.ts';
import { keepIn, lockFree } from '../../../src/transaction/index.ts';
import { startMariadb } from '../../kit/mariadb.ts';
import { startPostgres } from '../../kit/postgres.ts';
import type { Server } from '../../kit/server.ts';
import { describeOn } from '../../kit/suite.ts';
import { settleWithin, until } from '../../kit/wait.ts';
import { mysqlTransactions, postgresTransactions } from '../../stock/stores.ts';
import { example, found, together } from '../block.ts';
import { closeAll, createLocks } from '../tracked.ts';
import { expectOneAtATime } from './exclusive.ts';

type Send = (sql: string, params: readonly unknown[]) => Promise<unknown>;
const statuses = (results: readonly PromiseSettledResult<unknown>[]): string[] =>
  results.map(({ status }) => status).sort();
const ONE_OF_EIGHT = ['fulfilled', ...Array<string>(7).fill('rejected')];
const ORDERS = `create table orders (id int primary key, driver varchar(9), state varchar(9), version int not null default 0,
  fence bigint not null default 0)`;

describeOn('postgres', 'blocks on postgres', () => {
  let server: Server;
  let db: pg.Pool;
  let instances: Locks[];
  let inTransaction: ReturnType<typeof postgresTransactions>;
  const stack = new AsyncDisposableStack();

  const numberOf = async (sql: string): Promise<number> => Number((await db.query(sql)).rows[0].n);

  beforeAll(async () => {
    server = await startPostgres();
    db = new pg.Pool({ connectionString: server.url, max: 30 });
    inTransaction = postgresTransactions(server.url, stack);
  });
  beforeEach(async () => {
    await db.query('drop schema public cascade; create schema public; drop schema if exists holdfast cascade');
    await db.query(ORDERS);
    await db.query("insert into orders (id, state) values (42, 'new')");
    instances = [1, 2, 3].map(() => createLocks(postgres(db)));
    return closeAll;
  });
  afterAll(async () => {
    await stack.disposeAsync();
    await db.end();
    await server[Symbol.asyncDispose]();
  });

  test('postgres: four processes are inside one after the other', async () => {
    vi.stubEnv('DATABASE_URL', server.url);
    const made = await expectOneAtATime(found('docs/backends/postgres.md', 'In one minute'), {});
    vi.unstubAllEnvs();
    await closeAll();
    for (const { pool } of made as { pool: pg.Pool }[]) await pool.end();
  });

  test('README.md: the same on PostgreSQL', async () => {
    vi.stubEnv('DATABASE_URL', server.url);
    const { locks, pool } = await example('README.md', 'On your engine', 2)();
    vi.unstubAllEnvs();
    expect(await locks.mutex('order:42').run((lease: { token: bigint }) => typeof lease.token)).toBe('bigint');
    await locks.close();
    await pool.end();
  });

  const own = () => ({ 'postgres://localhost/orders': server.url });
  test.each([
    ['the tutorial', () => example('docs/start-2.md', '5. Move to Redis', 2)({}, own())],
    ['frameworks', () => example('docs/guides/frameworks.md', 'The engine', 2)({}, own())],
  ])('%s: the locks on PostgreSQL', async (_page, made) => {
    const { locks, pool } = await made();
    expect(await locks.mutex('order:42').run((lease: { token: bigint }) => typeof lease.token)).toBe('bigint');
    await locks.close();
    await pool.end();
  });

  test('postgres: the script of the setup makes what locks need', async () => {
    const log = vi.fn();
    await example('docs/backends/postgres.md', 'A new version of holdfast')({ console: { log } });
    await db.query(log.mock.calls[0]![0]);
    expect(await numberOf("select count(*) n from pg_tables where tablename like 'holdfast%'")).toBeGreaterThan(0);
    await createLocks(postgres(db))
      .mutex('key')
      .run(() => {});
  });

  test('postgres, advisory: two exclude each other', async () => {
    const run = example('docs/backends/postgres.md', '`postgresAdvisory`: session locks');
    const [made, other] = [await run({ pool: db, createLocks }), await run({ pool: db, createLocks })];
    await using lease = await made.locks.mutex('key').acquire();
    expect(await other.locks.mutex('key').tryAcquire()).toBeNull();
    await lease.release();
  });

  test('@Locked: of eight who grab an order one has it', async () => {
    using _ = useLocks(instances[0]!);
    const { Orders } = await example('docs/guides/frameworks.md', '`@Locked`')({ locks: instances[0], db });
    const grabs = Array.from({ length: 8 }, (_, i) => new Orders().grab(42, `d${i}`));
    expect(statuses(await Promise.allSettled(grabs))).toEqual(ONE_OF_EIGHT);
  });

  test('leading: one of two works, under the token that others see, and both end when they are told to', async () => {
    await db.query('create table jobs (owner text, fence bigint not null default 0)');
    await db.query('insert into jobs (owner) values (null)');
    const programs = [1, 2].map(() => new EventEmitter());
    const running = together(
      found('docs/guides/leading.md', 'Leading'),
      programs.map((process, i) => ({ process, db, locks: instances[i] })),
    );
    const token = async () => numberOf('select fence n from jobs');
    await until('one leads', async () => (await token()) > 0);
    const first = await token();
    const before = await instances[2]!.leader('scheduler').current();
    expect(before).toMatchObject({ label: 'web-3:8080', token: BigInt(first) });
    for (const program of programs) program.emit('SIGTERM');
    expect(statuses(await settleWithin('both end', running))).toEqual(['fulfilled', 'fulfilled']);
    expect(await token()).toBeGreaterThanOrEqual(first);
  });

  test('a payment that comes twice at once is booked once, and both have its result', async () => {
    await db.query('create table results (key text primary key, mark text not null, value text)');
    await db.query('create table bookings (payment int, amount int)');
    const block = example('docs/guides/memo.md', 'Exactly once, in your transaction');
    const given = { inTransaction, keepIn, payment: { id: 7, amount: 5 } };
    const results = await Promise.all([block(given), block(given)]);
    expect(results.map(({ value }) => value)).toEqual([{ state: 'booked' }, { state: 'booked' }]);
    expect(results.map(({ ran }) => ran).sort()).toEqual([false, true]);
    expect(await numberOf('select count(*) n from bookings')).toBe(1);
  });

  test('rows that others work on are passed over', async () => {
    await db.query('create table jobs (id int primary key, state text)');
    await db.query("insert into jobs select i, 'new' from generate_series(1, 15) i");
    const block = example('docs/guides/locks-in-your-transaction.md', 'Take from a queue');
    const taken = await inTransaction(async (query) => {
      const mine = await block({ query, lockFree });
      const others = await inTransaction(async (other) => block({ query: other, lockFree }));
      return [mine.jobs.length, others.jobs.length];
    });
    expect(taken).toEqual([10, 5]);
  });

  test('schedules: what a tick wrote is not written twice, though it runs again', async () => {
    await db.query('create table runs (job text, tick timestamptz, unique (job, tick))');
    await db.query('create table due (id int); create table invoices (id int); insert into due values (1)');
    const block = found('docs/guides/schedules.md', 'What it cannot');
    const tick = new Date(Math.floor(Date.now() / 10_000) * 10_000).toISOString();
    const givens = instances.map((locks) => ({ locks, inTransaction }));
    await together(block, givens, { '2026-05-04T03:00:00Z': tick });
    expect(await numberOf('select count(*) n from invoices')).toBe(1);
  });

  test('schedules: a tick that runs again after its record was lost does no harm, and is done', async () => {
    await db.query('create table runs (job text, tick timestamptz, unique (job, tick))');
    await db.query('create table due (id int); create table invoices (id int); insert into due values (1)');
    const block = found('docs/guides/schedules.md', 'What it cannot');
    const tick = new Date(Math.floor(Date.now() / 10_000) * 10_000).toISOString();
    // Of two engines neither knows what ran by the other.
    const apart = [createLocks(memory()), createLocks(memory())].map((locks) => ({ locks, inTransaction }));
    const results = await together(block, apart, { '2026-05-04T03:00:00Z': tick });
    expect(statuses(results), 'a second run that fails would be tried again and again').toEqual(
      Array(2).fill('fulfilled'),
    );
    expect(await numberOf('select count(*) n from invoices')).toBe(1);
  });

  test('selling: units in tables', async () => {
    const { stock } = await example(
      'docs/guides/selling-without-overselling.md',
      'Selling without overselling, and one hot key',
      2,
    )({
      withTransaction: inTransaction,
      pool: db,
    });
    const phones = await stock.create('phone', { units: 2 });
    const buys = Array.from({ length: 5 }, (_, i) => phones.reserve({ buyer: `b${i}`, request: `r${i}`, ttl: '10m' }));
    expect(statuses(await Promise.allSettled(buys)).filter((status) => status === 'fulfilled')).toHaveLength(2);
  });

  test('of twenty deliveries of a message one does the slow step, and it is booked once', async () => {
    await db.query('create table handled (id text primary key); create table balances (total int)');
    await db.query('insert into balances values (0)');
    let [steps, failing] = [0, true];
    const fetchReceipt = async (): Promise<void> => {
      steps++;
      if (failing) throw new Error('the bank does not answer');
    };
    const block = found('docs/guides/memo.md', 'A message or webhook');
    const given = { inTransaction, payment: { id: 'p1', amount: 5 }, fetchReceipt };
    const givens = Array.from({ length: 20 }, (_, i) => ({ ...given, locks: instances[i % 3] }));
    const failed = await together(block, givens);
    expect(failed.map((result) => (result as PromiseRejectedResult).reason?.message)).toEqual(
      Array(20).fill('the bank does not answer'),
    );
    [steps, failing] = [0, false];
    expect(new Set(statuses(await together(block, [...givens, givens[0]!])))).toEqual(new Set(['fulfilled']));
    expect(steps, 'slow steps of twenty deliveries').toBe(1);
    expect(await numberOf('select total n from balances')).toBe(5);
  });

  test('a transaction by hand is done as a whole, or not at all, and gives its connection back', async () => {
    const { inTransaction: byHand } = await example(
      'docs/guides/locks-in-your-transaction.md',
      'A transaction, by hand',
    )({ pool: db });
    const insert = (id: number, then: string) =>
      byHand(async (query: Send) => {
        await query('insert into orders (id) values ($1)', [id]);
        await query(then, []);
      });
    await insert(1, 'select 1');
    await expect(insert(2, 'select * from nowhere')).rejects.toThrow('nowhere');
    await expect(insert(3, 'select pg_terminate_backend(pg_backend_pid())')).rejects.toThrow('terminat');
    // PostgreSQL answers the commit of a failed transaction with a rollback, and with no error.
    const hides = byHand(async (query: Send) => {
      await query('insert into orders (id) values (0)', []);
      await query('select * from nowhere', []).catch(() => {});
      return 'sold';
    });
    await expect(hides, 'what hides the error of a statement').rejects.toThrow('nothing was committed');
    expect(await numberOf('select count(*) n from orders where id < 4')).toBe(1);
    const open = "select count(*) n from pg_stat_activity where state like 'idle in transaction%'";
    await until('no transaction is left open', async () => (await numberOf(open)) === 0);
  });

  test('replicas that start together with the migrator of a library migrate once, and each is told of a failure', async () => {
    const ran: string[] = [];
    let failing = true;
    const migrations = {
      first: {
        async up() {
          ran.push('first');
        },
      },
      second: {
        async up() {
          ran.push('second');
          if (failing) throw new Error('no such column');
        },
      },
    };
    const kysely = new Kysely({ dialect: new PostgresDialect({ pool: db }) });
    const migrator = new Migrator({ db: kysely, provider: { getMigrations: async () => migrations } });
    const block = found('docs/recipes.md', 'Migrations at start');
    const givens = instances.map((locks) => ({ locks, migrator }));
    expect(statuses(await together(block, givens))).toEqual(Array(3).fill('rejected'));
    [failing, ran.length] = [false, 0];
    expect(statuses(await together(block, givens))).toEqual(Array(3).fill('fulfilled'));
    expect(ran).toEqual(['first', 'second']);
  });

  test('replicas that start together migrate once', async () => {
    await db.query('create table steps (name text unique)');
    const all = [{ name: 'one', sql: 'create table made (x int)' }];
    const store = {
      missingSteps: async () => {
        const { rows } = await db.query('select name from steps');
        return all.filter(({ name }) => !rows.some((row) => row.name === name));
      },
    };
    const givens = instances.map((locks) => ({ locks, inTransaction, store }));
    const results = await together(found('docs/recipes.md', 'Migrations at start', 2), givens);
    expect(statuses(results)).toEqual(Array(3).fill('fulfilled'));
    expect(await numberOf('select count(*) n from steps')).toBe(1);
  });

  test('a migration that fails leaves whole steps, and each replica its error', async () => {
    await db.query('create table steps (name text unique)');
    const all = [
      { name: 'one', sql: 'create table made (x int)' },
      { name: 'two', sql: 'create table made (y int)' },
    ];
    const store = {
      missingSteps: async () => {
        const { rows } = await db.query('select name from steps');
        return all.filter(({ name }) => !rows.some((row) => row.name === name));
      },
    };
    const givens = instances.map((locks) => ({ locks, inTransaction, store }));
    const results = await together(found('docs/recipes.md', 'Migrations at start', 2), givens);
    const codes = results.map((result) => result.status === 'rejected' && result.reason.code);
    expect(codes).toEqual(Array(3).fill('42P07')); // there is such a table
    expect((await db.query('select name from steps')).rows).toEqual([{ name: 'one' }]);
  });

  test('a feed that has nothing new is not asked without end', async () => {
    await db.query('create table feed (cursor int, fence bigint not null default 0); create table entries (row text)');
    await db.query('insert into feed values (0, 0)');
    const stop = new AbortController();
    const asked = vi.fn();
    const store = {
      position: async () => (await db.query('select cursor from feed')).rows[0],
      fetch: async (cursor: number) => {
        asked();
        return { rows: [], next: cursor };
      },
    };
    const running = together(found('docs/recipes.md', 'A poller'), [
      { locks: instances[0], inTransaction, store, signal: stop.signal },
    ]);
    await until('it asks', () => asked.mock.calls.length > 0);
    await pass(300);
    stop.abort();
    expect(statuses(await settleWithin('it stops in its pause', running))).toEqual(['fulfilled']);
    expect(asked).toHaveBeenCalledOnce();
  });

  test('a feed is read by one, and a page of it is written once', async () => {
    await db.query('create table feed (cursor int, fence bigint not null default 0); create table entries (row text)');
    await db.query('insert into feed values (0, 0)');
    const stop = new AbortController();
    const store = {
      position: async () => (await db.query('select cursor from feed')).rows[0],
      fetch: async (cursor: number) => ({ rows: [`entry ${cursor}`], next: cursor + 1 }),
    };
    const givens = instances.map((locks) => ({ locks, inTransaction, store, signal: stop.signal }));
    const running = together(found('docs/recipes.md', 'A poller'), givens);
    await until('it reads on', async () => (await numberOf('select cursor n from feed')) > 5);
    stop.abort();
    await settleWithin('all stop', running);
    expect(await numberOf('select count(*) - count(distinct row) n from entries')).toBe(0);
    expect(await numberOf('select count(*) n from entries')).toBe(await numberOf('select cursor n from feed'));
  });

  test('what the other service refuses is not taken for stock, and nothing is written', async () => {
    const wrote = vi.fn();
    const service = createServer(async (request, response) => {
      if (request.method === 'PUT') wrote(String(Buffer.concat(await request.toArray())));
      response.writeHead(request.method === 'PUT' ? 409 : 503).end('{"error":"no stock today"}');
    });
    await new Promise<void>((resolve) => void service.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void service.close());
    const stock = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
    const block = found('docs/recipes.md', 'A lock over several services');
    expect(statuses(await together(block, [{ locks: instances[0], stock }]))).toEqual(['rejected']);
    expect(wrote).not.toHaveBeenCalled();
  });

  test('another service refuses an old token, and one who holds the lock changes its units', async () => {
    let units = 10;
    const query: Send = (sql, params) => db.query(sql, [...params]);
    const service = createServer(async (request, response) => {
      try {
        await example('docs/recipes.md', 'A lock over several services', 2)({ query, request });
        const chunks = await request.toArray();
        if (request.method === 'PUT') units = JSON.parse(String(Buffer.concat(chunks))).units;
        response.end(JSON.stringify({ units }));
      } catch (error) {
        response.writeHead(isLockError(error, 'LOCK_FENCED') ? 409 : 500).end(String(error));
      }
    });
    await new Promise<void>((resolve) => void service.listen(0, '127.0.0.1', resolve));
    const stop = (): void => void service.close();
    onTestFinished(stop);
    const stock = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
    const givens = instances.map((locks) => ({ locks, stock }));
    const results = await together(found('docs/recipes.md', 'A lock over several services'), givens);
    expect(statuses(results)).toEqual(Array(3).fill('fulfilled'));
    expect(units).toBe(7);
    const late = await fetch(`${stock}/p1`, { headers: { 'fencing-token': '0' } });
    expect(late.status).toBe(409);
  });
});

describeOn('mysql', 'blocks on mariadb', () => {
  let server: Server;
  let pool: Pool;
  beforeAll(async () => {
    server = await startMariadb();
    pool = createPool({ uri: server.url });
    await pool.query(ORDERS);
  });
  beforeEach(async () => {
    await pool.query("replace into orders (id, state) values (42, 'new')");
  });
  afterAll(async () => {
    await pool.end();
    await server[Symbol.asyncDispose]();
  });

  test('mysql: of eight who want one order, one has it', async () => {
    const givens = Array.from({ length: 8 }, () => ({}));
    const block = found('docs/backends/mysql.md', 'In one minute');
    // The pool of one that fails is not told: its reader would end the process.
    const pools: Pool[] = [];
    const own = givens.map(() => ({
      createPool: (uri: string) => {
        pools.push(createPool(uri));
        return pools.at(-1);
      },
    }));
    const results = await together(block, own, {
      'mysql://app@127.0.0.1/shop': server.url,
      "import { createPool, type ResultSetHeader } from 'mysql2/promise';\n": '',
      '<ResultSetHeader>': '',
    });
    expect(statuses(results)).toEqual(ONE_OF_EIGHT);
    const [rows] = await pool.query('select driver, fence from orders');
    expect(rows).toEqual([{ driver: '7', fence: expect.any(Number) }]);
    await closeAll();
    for (const each of pools) await each.end();
  });

  test('a row that is locked is changed by one after the other', async () => {
    const block = found('docs/guides/locks-in-your-transaction.md', 'Lock a row (pessimistic)');
    const givens = Array.from({ length: 4 }, () => ({ pool }));
    expect(statuses(await together(block, givens))).toEqual(Array(4).fill('fulfilled'));
    const [rows] = await pool.query('select driver from orders');
    expect(rows).toEqual([{ driver: '7' }]);
  });

  test('a change that somebody else was quicker at is made anew', async () => {
    await using stack = new AsyncDisposableStack();
    const withTransaction = mysqlTransactions(server.url, stack);
    const next = (state: string): string => `${state}+`.slice(-9);
    const block = found('docs/guides/locks-in-your-transaction.md', 'Do not lock: notice (optimistic)');
    const results = await together(
      block,
      Array.from({ length: 3 }, () => ({ withTransaction, next })),
    );
    expect(statuses(results)).toEqual(Array(3).fill('fulfilled'));
    const [rows] = await pool.query('select state, version from orders');
    expect(rows).toEqual([{ state: 'new+++', version: 3 }]);
  });
});
