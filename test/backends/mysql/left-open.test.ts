import type { Pool } from 'mysql2/promise';
import { afterEach, expect, test } from 'vitest';
import { createStock, sqlStock } from '../../../products/stock/index.ts';
import { mysql, mysqlNamed } from '../../../src/backends/mysql/index.ts';
import { Server } from '../../../src/backends/mysql/server.ts';
import type { Backend, QueueEntry } from '../../../src/core/contract/backend.ts';
import { systemClock } from '../../../src/core/contract/clock.ts';
import { describeOnMysql } from '../../kit/mysql-kinds.ts';
import { until } from '../../kit/wait.ts';
import { claimOf } from './claims.ts';
import { useServer } from './server.ts';

/** What an application may have left on a connection that it gave back, by the statements that left it. */
const LEFT = {
  'a transaction with a write in it': ['START TRANSACTION', 'UPDATE work SET done = 1'],
  'a transaction that only began': ['START TRANSACTION'],
  'autocommit off': ['SET autocommit = 0'],
  'a read-only transaction': ['START TRANSACTION READ ONLY'],
  'an active XA transaction': ["XA START 'a'", 'UPDATE work SET done = 1'],
  'an idle XA transaction': ["XA START 'b'", 'UPDATE work SET done = 1', "XA END 'b'"],
  'locked tables': ['LOCK TABLES work WRITE'],
} as const;

describeOnMysql('a connection that was given back with something left open on it', (kind) => {
  const host = useServer(kind);
  const opened: Backend[] = [];
  const kept = <B extends Backend>(backend: B): B => {
    opened.push(backend);
    return backend;
  };
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((backend) => backend.close()));
  });

  /** A pool of one connection, on which somebody ran these statements and then gave it back. */
  const spoilt = async (backend: (pool: Pool) => Backend, statements: readonly string[]): Promise<Backend> => {
    const pool = host.pool({ connectionLimit: 1 });
    const made = kept(backend(pool));
    const first = claimOf('first'); // the table is known
    await made.attempt(first);
    await made.release(first);
    const connection = await pool.getConnection();
    for (const statement of statements) await connection.query(statement);
    connection.release();
    return made;
  };
  const tried = (answer: Promise<unknown>): Promise<unknown> => answer.catch((error: Error) => error);

  const standings = async (backend: Backend): Promise<QueueEntry[]> => {
    const found: QueueEntry[] = [];
    for await (const standing of backend.inspect!('seen')) found.push(standing);
    return found;
  };

  const kinds = { mysql, mysqlNamed } as const;
  for (const [kind, make] of Object.entries(kinds)) {
    for (const [what, statements] of Object.entries(LEFT)) {
      test(`${kind}: nothing is granted over ${what}, the error names it, and the next attempt is sound`, async () => {
        const root = host.pool();
        await root.query('CREATE TABLE IF NOT EXISTS work (done INT NOT NULL)');
        await root.query('DELETE FROM work');
        await root.query('INSERT INTO work VALUES (0)');
        const backend = await spoilt(make, statements);
        const claim = claimOf('key');
        const answer = await tried(backend.attempt(claim));
        expect(answer).toBeInstanceOf(Error);
        expect(answer, 'it may be tried again').not.toHaveProperty('code', 'LOCK_UNAVAILABLE');
        expect((answer as Error).message).toMatch(/connection of the pool.*(COMMIT|autocommit|UNLOCK)/);
        // A named lock of the session that was ended is free when the server has noticed its end.
        await until('the next attempt is granted', async () => (await backend.attempt(claim)).granted);
        const other = kept(make(root));
        expect(await other.attempt(claimOf('key', { queue: false })), 'others see the hold').toMatchObject({
          granted: false,
        });
        expect(await backend.release(claim)).toMatchObject({ freed: true });
        const [[row]] = (await root.query('SELECT done FROM work')) as unknown as [[{ done: number }]];
        expect(row.done, "somebody's half-done work is not committed").toBe(0);
        const codes = (await backend.check!()).map(({ code }) => code);
        expect(codes, 'check() reports it').toContain('left-open');
      });
    }
  }

  test('what a transaction that was left open still sees is not taken for what is there', async () => {
    const pool = host.pool({ connectionLimit: 1 });
    const [backend, other] = [kept(mysql(pool)), kept(mysql(host.pool()))];
    const leave = async (): Promise<void> => {
      const connection = await pool.getConnection();
      await connection.query('START TRANSACTION WITH CONSISTENT SNAPSHOT');
      connection.release();
    };
    const claim = claimOf('seen');
    const before = claimOf('seen');
    await other.attempt(before);
    await other.release(before);
    await backend.hints!.write('note', 'old', 60_000);
    await leave();
    const grant = await other.attempt(claim);
    if (!grant.granted) throw new Error('it is free');
    await expect(standings(backend)).rejects.toThrow(/transaction/);
    expect(await standings(backend)).toMatchObject([{ token: grant.token }]);
    await leave();
    await other.release(claim);
    const next = claimOf('seen');
    const last = await other.attempt(next);
    if (!last.granted) throw new Error('it is free');
    await expect(backend.evict!('seen', last.token)).rejects.toThrow(/transaction/);
    expect(await backend.evict!('seen', last.token)).toBe(true);
    await leave();
    await other.hints!.write('note', 'new', 60_000);
    await expect(backend.hints!.read('note')).rejects.toThrow(/transaction/);
    expect(await backend.hints!.read('note')).toBe('new');
  });

  test('making the tables does not commit what was left open', async () => {
    const root = host.pool();
    await root.query('CREATE TABLE half (done INT NOT NULL)');
    const pool = host.pool({ connectionLimit: 1 });
    const connection = await pool.getConnection();
    await connection.query('START TRANSACTION');
    await connection.query('INSERT INTO half VALUES (1)');
    connection.release();
    const backend = kept(mysql(pool, { table: 'made_beside' }));
    await expect(backend.setup()).rejects.toThrow(/COMMIT/);
    await backend.setup();
    expect((await root.query('SELECT * FROM half'))[0]).toEqual([]);
  });

  test('what was sold over such a connection stays sold', async () => {
    const pool = host.pool({ connectionLimit: 1 });
    const stockOver = async (own: Pool) => {
      const store = sqlStock({
        dialect: 'mariadb',
        async transaction(work) {
          const connection = await own.getConnection();
          try {
            await connection.beginTransaction();
            const result = await work((sql, params) => connection.execute(sql, params as string[]));
            await connection.commit();
            return result;
          } finally {
            connection.release();
          }
        },
      });
      await store.setup();
      return createStock(store);
    };
    const phones = await (await stockOver(pool)).create('phone', { units: 3 });
    for (const statement of ['START TRANSACTION', 'SET autocommit = 0']) {
      const connection = await pool.getConnection();
      await connection.query(statement);
      connection.release();
      await phones.take({ buyer: 'li', units: 1 });
      const left = await pool.getConnection();
      await left.query('ROLLBACK');
      left.destroy();
    }
    const others = await (await stockOver(host.pool())).open('phone');
    expect(await others.audit()).toMatchObject({ sold: 2 });
  });

  test('where the server has no variable for it, the answer to a statement without rows shows it', async () => {
    const server = new Server(host.pool({ connectionLimit: 1 }), systemClock);
    const ask = () => server.run({ sql: 'SELECT 1 AS one, NULL AS open', values: [] }); // as MySQL reads open.sql
    expect(await ask()).toHaveLength(1);
    await server.with((connection) => server.say(connection, 'START TRANSACTION'));
    await expect(ask()).rejects.toThrow(/COMMIT/);
    expect(await ask()).toHaveLength(1);
    server.close();
  });

  test('a waiter whose looks ran in an old view is granted all the same, once it is its turn', async () => {
    const pool = host.pool({ connectionLimit: 1 });
    const [waiting, holding] = [kept(mysql(pool, { poll: 5 })), kept(mysql(host.pool()))];
    const [holder, waiter] = [claimOf('turn'), claimOf('turn')];
    await holding.attempt(holder);
    await waiting.attempt(waiter);
    const connection = await pool.getConnection();
    await connection.query('START TRANSACTION WITH CONSISTENT SNAPSHOT');
    connection.release();
    let notified = false;
    await using _watch = await waiting.watch!(waiter, (grant) => {
      notified ||= grant !== undefined;
    });
    await holding.release(holder);
    await until('it is notified', () => notified);
  });
});
