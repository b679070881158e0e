import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type KeepOptions, keepIn, type Query, retryStale } from '../../src/transaction/index.ts';
import type { Server } from '../kit/server.ts';
import { describeOn } from '../kit/suite.ts';
import { settleWithin, until } from '../kit/wait.ts';
import { type Database, GROUNDS } from './grounds.ts';

const TABLE = {
  postgres: 'CREATE TABLE results (key text PRIMARY KEY, mark text NOT NULL, value text)',
  mysql: 'CREATE TABLE results (`key` varbinary(512) PRIMARY KEY, mark varchar(64) NOT NULL, value mediumtext)',
};
/** More rows of the stock than one transaction changes here. */
const MANY = Array.from({ length: 30 }, (_, n) => n + 2);

for (const { title, parts, dialect, start, open } of GROUNDS) {
  describeOn(parts, `keepIn in the caller's transaction, ${title}`, () => {
    let server: Server;
    let db: Database;
    const where = { dialect, table: 'results', key: 'order:42' };
    const keep = <T>(query: Query, fn: () => Promise<T> | T, more: Partial<KeepOptions<T>> = {}) =>
      keepIn(query, { ...where, ...more }, fn);
    const sold = async (): Promise<number> => {
      const result = (await db.query('SELECT COUNT(*) AS n FROM sales', [])) as { rows: { n: string }[] };
      return Number((dialect === 'postgres' ? result.rows : (result as unknown as { n: number }[][])[0]!)[0]!.n);
    };
    const sell = async (query: Query): Promise<{ state: string }> => {
      await query('INSERT INTO sales (item) VALUES (1)', []);
      return { state: 'sold' };
    };

    beforeAll(async () => {
      server = await start();
      db = open(server.url);
      await db.query(TABLE[dialect === 'postgres' ? 'postgres' : 'mysql'], []);
      await db.query('CREATE TABLE sales (item int)', []);
      await db.query('CREATE TABLE stock (id int PRIMARY KEY, n int)', []);
      await db.query(`INSERT INTO stock VALUES ${[1, ...MANY].map((id) => `(${id}, 0)`).join()}`, []);
    }, 60_000);
    afterAll(async () => {
      await db?.end();
      await server?.[Symbol.asyncDispose]();
    });
    beforeEach(async () => {
      await db.query('DELETE FROM results', []);
      await db.query('DELETE FROM sales', []);
    });

    test('the second transaction gets the result of the first, and does not run', async () => {
      const first = await db.within((query) => keep(query, () => sell(query)));
      const second = await db.within((query) => keep(query, () => sell(query)));
      expect([first, second]).toEqual([
        { value: { state: 'sold' }, ran: true },
        { value: { state: 'sold' }, ran: false },
      ]);
      expect(await sold()).toBe(1);
    });

    test('two calls at once of one transaction keep both results', async () => {
      const both = await db.within((query) =>
        Promise.all([keep(query, () => sell(query)), keep(query, () => sell(query), { key: 'order:43' })]),
      );
      expect(both.map(({ ran }) => ran)).toEqual([true, true]);
      expect(await sold()).toBe(2);
    });

    test('twenty transactions at once do the work once, and all have the result', async () => {
      const run = (): Promise<unknown> =>
        retryStale(() => db.within((query) => keep(query, () => sell(query))), { attempts: 20 });
      const results = await Promise.all(Array.from({ length: 20 }, run));
      expect(results.filter((result) => (result as { ran: boolean }).ran)).toHaveLength(1);
      expect(new Set(results.map((result) => JSON.stringify((result as { value: unknown }).value)))).toEqual(
        new Set(['{"state":"sold"}']),
      );
      expect(await sold()).toBe(1);
    });

    test('what is rolled back leaves nothing, and one that waited for it runs', async () => {
      let begun = (): void => {};
      const begins = new Promise<void>((resolve) => {
        begun = resolve;
      });
      let fail = (): void => {};
      const failing = db.within((query) =>
        keep(query, async () => {
          await sell(query);
          begun();
          await new Promise<void>((_, reject) => {
            fail = () => reject(new Error('the process died here'));
          });
        }),
      );
      const failed = expect(failing).rejects.toThrow('the process died here');
      await settleWithin('the first one', begins);
      const second = db.within((query) => keep(query, () => sell(query)));
      fail();
      await failed;
      expect(await settleWithin('the second one', second)).toMatchObject({ ran: true });
      expect(await sold()).toBe(1);
    });

    test('a caller that commits in spite of an error leaves no key without a result', async () => {
      await db.within(async (query) => {
        await keep(query, () => Promise.reject(new Error('declined'))).catch(() => {});
      });
      expect(await db.within((query) => keep(query, () => 'paid'))).toEqual({ value: 'paid', ran: true });
    });

    // On PostgreSQL nothing but a rollback is possible after a deadlock.
    test.skipIf(dialect === 'postgres').each([
      ['that its function throws', (deadlock: unknown) => Promise.reject(deadlock)],
      ['that its function hides', async () => ({ state: 'not sold' })],
    ])('a deadlock %s loses no result: the next holder of the key keeps its own', async (_, onDeadlock) => {
      const add = (query: Query, id: number) => query(`UPDATE stock SET n = n + 1 WHERE id = ${id}`, []);
      const waiting = "SELECT COUNT(*) AS n FROM information_schema.INNODB_TRX WHERE trx_state = 'LOCK WAIT'";
      const [takes, begun] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      // It takes the same rows in another order, and has changed more of them, so the server ends the first transaction of the key.
      const rival = db.within(async (query) => {
        for (const id of MANY) await add(query, id);
        takes.resolve();
        await begun.promise;
        await add(query, 1);
      });
      await settleWithin('the rows of the rival', takes.promise);
      let runs = 0;
      const work = async (query: Query): Promise<{ state: string }> => {
        const state = await sell(query);
        if (++runs > 1) return state;
        await add(query, 1);
        begun.resolve();
        await until('the rival and the second one wait', async () => {
          const [[row]] = (await db.query(waiting, [])) as [[{ n: number }]];
          return Number(row.n) === 2;
        });
        return add(query, 2).then(() => state, onDeadlock);
      };
      const run = () => retryStale(() => db.within((query) => keep(query, () => work(query))));
      const first = run();
      await settleWithin('the first one', begun.promise);
      const second = run();
      const sale = { state: 'sold' };
      expect(await settleWithin('all', Promise.all([first, second, rival])), 'one result').toEqual([
        { value: sale, ran: false },
        { value: sale, ran: true },
        undefined,
      ]);
      expect(await sold(), 'times that the work is in the database').toBe(1);
      const again = await db.within((query) => keep(query, () => sell(query)));
      expect(again, 'what is stored').toEqual({ value: sale, ran: false });
    });

    test('another request under the same key is refused before anything runs', async () => {
      await db.within((query) => keep(query, () => 1, { match: { amount: 5, to: 'a' } }));
      const again = db.within((query) => keep(query, () => 2, { match: { to: 'a', amount: 5 } }));
      expect(await again).toEqual({ value: 1, ran: false });
      const other = db.within((query) => keep(query, () => 2, { match: { amount: 6, to: 'a' } }));
      await expect(other).rejects.toMatchObject({ code: 'LOCK_MISMATCH', key: 'order:42' });
    });

    test('a query outside of a transaction is refused, and nothing is written', async () => {
      const outside = keep(db.query, () => sell(db.query));
      await expect(outside).rejects.toMatchObject({
        code: 'LOCK_INVALID',
        message: expect.stringContaining('keepIn() is not in a transaction: begin one'),
      });
      expect(await sold()).toBe(0);
      expect(await db.within((query) => keep(query, () => 'first'))).toMatchObject({ ran: true });
    });

    test('a key that no lock could have is refused, with a match and without', async () => {
      for (const more of [{ key: '' }, { key: '', match: 1 }])
        await expect(db.within((query) => keep(query, () => 1, more))).rejects.toMatchObject({ code: 'LOCK_INVALID' });
    });

    test('the function that makes a result cannot ask for it', async () => {
      const nested = db.within((query) => keep(query, () => keep(query, () => 1)));
      await expect(nested).rejects.toMatchObject({ code: 'LOCK_DEADLOCK' });
    });

    test('a row of the database is had by both, with its dates and bigints, and as a value of its own', async () => {
      const row = { at: new Date(5), n: 2n ** 64n, none: undefined };
      const results = [];
      for (const _ of [1, 2]) results.push(await db.within((query) => keep<unknown>(query, () => row)));
      expect(results).toStrictEqual([
        { value: row, ran: true },
        { value: row, ran: false },
      ]);
      expect(results[0]!.value).not.toBe(row);
    });

    test('a value that cannot be kept is refused, and the work is rolled back with it', async () => {
      const bent = db.within((query) => keep(query, async () => (await sell(query)) && { at: () => 1 }));
      await expect(bent).rejects.toMatchObject({ code: 'LOCK_INVALID', message: expect.stringContaining('value.at') });
      expect(await sold()).toBe(0);
    });

    test('keys that differ in case or in a space at the end are different keys', async () => {
      const keys = ['a', 'A', 'a '];
      const runs = await Promise.all(keys.map((key) => db.within((query) => keep(query, () => key, { key }))));
      expect(runs).toEqual(keys.map((value) => ({ value, ran: true })));
    });

    // Of a character that latin1 lacks, only the low byte may be sent: of the first one, that is a quote.
    test.skipIf(dialect === 'postgres').each(['latin1', 'binary'])(
      'a key and a value keep all their characters on a connection that speaks %s',
      async (charset) => {
        const other = open(`${server.url}?charset=${charset}`);
        for (const key of ['ħ', "'", '❢', 'b', '订单', 'café', '\\'])
          for (const [ran, { within }] of [other, other, db].entries()) {
            const kept = await within((query) => keep(query, () => (ran ? 'ran again' : `${key}讒`), { key }));
            expect(kept, key).toEqual({ value: `${key}讒`, ran: ran === 0 });
          }
        await other.end();
      },
    );

    describe('in a transaction that reads from a snapshot', () => {
      test('a result that was committed after its beginning is found, or the transaction must begin again', async () => {
        const tries: number[] = [];
        const result = await retryStale((attempt) =>
          db.within(async (query) => {
            tries.push(attempt);
            await query('SELECT COUNT(*) FROM sales', []);
            if (attempt === 1) await db.within((other) => keep(other, () => sell(other)));
            return keep(query, () => sell(query));
          }, 'REPEATABLE READ'),
        );
        expect(result).toEqual({ value: { state: 'sold' }, ran: false });
        expect(tries.length).toBeLessThanOrEqual(2);
        expect(await sold()).toBe(1);
      });
    });
  });
}

test('the refusal of MySQL to prepare a SAVEPOINT is answered with what to give instead', async () => {
  const refusal = Object.assign(new Error('This command is not supported in the prepared statement protocol yet'), {
    ...{ errno: 1295, code: 'ER_UNSUPPORTED_PS' },
  });
  let ran = 0;
  const kept = keepIn(
    () => Promise.reject(new Error('wrapped by a library', { cause: refusal })),
    { dialect: 'mysql', table: 'results', key: 'order:42' },
    () => ran++,
  );
  await expect(kept).rejects.toMatchObject({
    ...{ code: 'LOCK_INVALID', key: 'order:42', cause: { cause: refusal } },
    message: expect.stringContaining('connection.query'),
  });
  expect(ran).toBe(0);
});
