import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Clock, systemClock } from '../../src/core/contract/clock.ts';
import type { Duration } from '../../src/index.ts';
import { changeRow, lockFree, lockRow, type Query, type Row, retryStale, STALE } from '../../src/transaction/index.ts';
import type { Server } from '../kit/server.ts';
import { describeOn } from '../kit/suite.ts';
import { settleWithin } from '../kit/wait.ts';
import { type Database, GROUNDS } from './grounds.ts';

/** The statements that read the limits of a wait. */
const LIMITS = {
  postgres: "SELECT current_setting('lock_timeout'), current_setting('statement_timeout')",
  mariadb: "SHOW VARIABLES WHERE Variable_name IN ('innodb_lock_wait_timeout', 'max_statement_time')",
  mysql: "SHOW VARIABLES WHERE Variable_name IN ('innodb_lock_wait_timeout', 'max_execution_time')",
};

for (const { title, parts, dialect, start, open } of GROUNDS) {
  describeOn(parts, `locks in the caller's transaction, ${title}`, () => {
    let server: Server;
    let db: Database;
    const orders = { dialect, table: 'orders' };

    beforeAll(async () => {
      server = await start();
      db = open(server.url);
      await db.query(
        'CREATE TABLE orders (id INT PRIMARY KEY, state VARCHAR(20) NOT NULL, version BIGINT NOT NULL)',
        [],
      );
    }, 60_000);
    afterAll(async () => {
      await db?.end();
      await server?.[Symbol.asyncDispose]();
    });
    beforeEach(async () => {
      await db.query('DELETE FROM orders', []);
      await db.query("INSERT INTO orders VALUES (1, 'new', 1), (2, 'new', 1), (3, 'new', 1), (4, 'done', 1)", []);
    });

    const lock = (query: Query, id: number, wait?: Duration): Promise<Row | undefined> =>
      lockRow(query, { ...orders, where: { id }, wait });

    describe('lockRow', () => {
      test('gives the row, or undefined where there is none', async () => {
        await db.within(async (query) => {
          expect(await lock(query, 1)).toMatchObject({ id: 1, state: 'new' });
          expect(await lockRow(query, { ...orders, where: { id: 2 }, columns: ['state'] })).toEqual({ state: 'new' });
          expect(await lock(query, 99)).toBeUndefined();
        });
      });

      test('with wait 0 a locked row is refused at once, another row is not', async () => {
        await db.within(async (one) => {
          await lock(one, 1);
          await expect(db.within((two) => lock(two, 1, 0))).rejects.toMatchObject({ code: 'LOCK_TIMEOUT' });
          expect(await db.within((two) => lock(two, 2, 0))).toMatchObject({ id: 2 });
        });
      });

      test('a wait ends after its limit, and the limit is not left behind', async () => {
        await db.within(async (one) => {
          await lock(one, 1);
          const start = performance.now();
          await expect(db.within((two) => lock(two, 1, '1s'))).rejects.toMatchObject({ code: 'LOCK_TIMEOUT' });
          expect(performance.now() - start).toBeGreaterThan(900);
        });
        const setting = LIMITS[dialect];
        await db.within(async (query) => {
          const before = JSON.stringify(await query(setting, []));
          await lock(query, 1, '1s');
          expect(JSON.stringify(await query(setting, []))).toBe(before);
        });
      });

      test('two calls at once of one transaction leave no limit behind', async () => {
        const [taken, free] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
        const other = db.within(async (one) => {
          await lock(one, 1);
          taken.resolve();
          await free.promise;
        });
        await settleWithin('the row of the other one', taken.promise);
        await db.within(async (query) => {
          const before = JSON.stringify(await query(LIMITS[dialect], []));
          const waits = Promise.withResolvers<void>();
          const seen: Query = (sql, params) => {
            if (sql.endsWith('FOR UPDATE') || sql.includes('FOR UPDATE WAIT')) waits.resolve();
            return query(sql, params);
          };
          const first = lock(seen, 1, '20s');
          await settleWithin('the first call', waits.promise);
          const second = lock(seen, 2, '20s');
          free.resolve();
          await settleWithin('both calls', Promise.all([first, second, other]));
          expect(JSON.stringify(await query(LIMITS[dialect], [])), 'the limits afterwards').toBe(before);
        });
      });

      // MariaDB takes no notice of the limit in the words of MySQL.
      test.skipIf(title.endsWith('in the words of MySQL'))(
        'the limit is for all waits together, though one lock comes after another',
        async () => {
          const held = Promise.withResolvers<void>();
          const lockedBoth = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
          const hold = (id: number, locked: () => void, until: Promise<void>) =>
            db.within(async (query) => {
              await lock(query, id);
              locked();
              await until;
            });
          const early = new Promise<void>((resolve) => setTimeout(resolve, 2_100));
          const holders = [hold(1, lockedBoth[0].resolve, early), hold(2, lockedBoth[1].resolve, held.promise)];
          await Promise.all(lockedBoth.map(({ promise }) => promise));
          const start = performance.now();
          const both = db.within((query) => lockRow(query, { ...orders, where: { state: 'new' }, wait: '3s' }));
          await expect(both).rejects.toMatchObject({ code: 'LOCK_TIMEOUT' });
          const took = performance.now() - start;
          held.resolve();
          await Promise.all(holders);
          expect(took, 'of a wait of 3,000 ms').toBeGreaterThan(2_900);
          expect(took, 'of a wait of 3,000 ms, and not of another after 2,100').toBeLessThan(5_000);
        },
      );

      test('a wait longer than the server can count is as long as it can', async () => {
        expect(await db.within((query) => lock(query, 1, '365d'))).toMatchObject({ id: 1 });
      });

      test('a transaction that waits gets the row as the one before left it', async () => {
        let second: Promise<Row | undefined> | undefined;
        await db.within(async (one) => {
          await lock(one, 1);
          second = db.within((two) => lock(two, 1, '10s'));
          await one(`UPDATE orders SET state = 'changed' WHERE id = 1`, []);
        });
        expect(await second).toMatchObject({ state: 'changed' });
      });

      test('of two that wait for each other one is refused, and the other goes on', async () => {
        let arrived = 0;
        let both = (): void => {};
        const meeting = new Promise<void>((resolve) => {
          both = resolve;
        });
        const cross = (first: number, second: number): Promise<unknown> =>
          db.within(async (query) => {
            await lock(query, first);
            if (++arrived === 2) both();
            await meeting;
            return lock(query, second);
          });
        const results = await Promise.allSettled([cross(1, 2), cross(2, 1)]);
        const failed = results.filter(({ status }) => status === 'rejected');
        expect(failed).toMatchObject([{ reason: { code: 'LOCK_DEADLOCK' } }]);
      });

      test('names that are not names never reach the server', async () => {
        const sent: string[] = [];
        const query: Query = async (sql) => {
          sent.push(sql);
        };
        for (const name of ['a b', 'a"b', 'a`b', '', 'a.b.c', '1; drop table orders', `${'x'.repeat(64)}`]) {
          await expect(lockRow(query, { ...orders, table: name, where: { id: 1 } })).rejects.toMatchObject({
            code: 'LOCK_INVALID',
          });
          await expect(lockRow(query, { ...orders, where: { [name]: 1 } })).rejects.toMatchObject({
            code: 'LOCK_INVALID',
          });
        }
        await expect(lockRow(query, { ...orders, where: {} })).rejects.toMatchObject({ code: 'LOCK_INVALID' });
        expect(sent).toEqual([]);
      });

      test('values are data', async () => {
        const state = `'; DROP TABLE orders; -- "\\`;
        await db.within(async (query) => {
          expect(await lockRow(query, { ...orders, where: { id: 1, state } })).toBeUndefined();
          expect(await lockRow(query, { ...orders, where: { id: 1, state: null } })).toBeUndefined();
        });
      });
    });

    test('what is missing is not taken for NULL, nor text or NULL for a version', async () => {
      const invalid = { code: 'LOCK_INVALID' };
      await expect(lockRow(db.query, { ...orders, where: { id: undefined } })).rejects.toMatchObject(invalid);
      await expect(lockFree(db.query, { ...orders, where: { state: undefined } })).rejects.toMatchObject(invalid);
      const change = { ...orders, where: { id: 1 }, version: 1, set: { state: 'paid' } };
      await expect(changeRow(db.query, { ...change, set: { state: undefined } })).rejects.toMatchObject(invalid);
      for (const version of ['1', null, undefined, 1.5, Number.NaN, 2 ** 53]) {
        const wrong = { ...change, version: version as number };
        await expect(changeRow(db.query, wrong), `version ${version}`).rejects.toMatchObject(invalid);
      }
      expect(await changeRow(db.query, { ...change, version: 1n })).toBe(2n);
    });

    test('lockFree gives two workers different rows, in order, and none that is locked', async () => {
      const next = (query: Query): Promise<Row[]> =>
        lockFree(query, { ...orders, where: { state: 'new' }, orderBy: ['id'], limit: 2, columns: ['id'] });
      await db.within(async (one) => {
        expect(await next(one)).toEqual([{ id: 1 }, { id: 2 }]);
        await db.within(async (two) => {
          expect(await next(two)).toEqual([{ id: 3 }]);
          expect(await db.within(next)).toEqual([]);
        });
      });
    });

    describe('changeRow', () => {
      const change = (query: Query, version: number | bigint, state: string): Promise<unknown> =>
        changeRow(query, { ...orders, where: { id: 1 }, version, set: { state } });

      test('changes the version it read, and says stale of any other', async () => {
        expect(await change(db.query, 1, 'paid')).toBe(2);
        expect(await change(db.query, 1, 'lost')).toBe(STALE);
        expect(await change(db.query, 2n, 'paid')).toBe(3n); // the same values again are a change all the same
        const row = await db.within((query) => lock(query, 1));
        expect(row).toMatchObject({ state: 'paid' });
        expect(Number(row!.version)).toBe(3);
      });

      test('ten who read and write at once lose nothing, with retries', async () => {
        const add = (): Promise<number> =>
          retryStale(
            () =>
              db.within(async (query) => {
                const read = await query('SELECT version, state FROM orders WHERE id = 2', []);
                const [row] = (Array.isArray(read) ? read[0] : (read as pg.QueryResult).rows) as Row[];
                const set = { state: `${Number.parseInt(`${row!.state}`, 10) + 1 || 1}` };
                return changeRow(query, { ...orders, where: { id: 2 }, version: Number(row!.version), set });
              }),
            { attempts: 50 },
          );
        await Promise.all(Array.from({ length: 10 }, add));
        expect(await db.within((query) => lock(query, 2))).toMatchObject({ state: '10' });
      });
    });
  });
}

describe('retryStale', () => {
  test('ends after its tries, and says so', async () => {
    const tries: number[] = [];
    const stale = async (attempt: number): Promise<typeof STALE> => {
      tries.push(attempt);
      return STALE;
    };
    await expect(retryStale(stale, { attempts: 3, pause: 1 })).rejects.toMatchObject({ code: 'LOCK_TIMEOUT' });
    expect(tries).toEqual([1, 2, 3]);
  });

  test('pauses that are none are refused', async () => {
    for (const pause of [Number.NaN, -1]) {
      await expect(retryStale(async () => STALE, { pause })).rejects.toMatchObject({ code: 'LOCK_INVALID' });
    }
  });

  test('its pauses do not grow for ever', async () => {
    const pauses: number[] = [];
    const after: Clock['after'] = (ms, fn) => {
      pauses.push(ms);
      return systemClock.after(0, fn);
    };
    const clock: Clock = { ...systemClock, after, random: () => 1 };
    await expect(retryStale(async () => STALE, { attempts: 30, clock })).rejects.toMatchObject({
      code: 'LOCK_TIMEOUT',
    });
    expect(pauses.slice(0, 3)).toEqual([20, 40, 80]);
    expect(Math.max(...pauses)).toBe(1_000);
  });

  test('a signal that comes while it is tried ends the pause before it begins', async () => {
    const controller = new AbortController();
    const stale = async (): Promise<typeof STALE> => {
      controller.abort();
      return STALE;
    };
    const clock: Clock = { ...systemClock, random: () => 0.9 };
    const tried = retryStale(stale, { pause: 60_000, signal: controller.signal, clock });
    await expect(settleWithin('the end', tried, 2_000)).rejects.toMatchObject({ code: 'LOCK_ABORTED' });
  });

  test("throws what is not staleness at once, and stops for the caller's signal", async () => {
    const broken = new Error('broken');
    await expect(retryStale(() => Promise.reject(broken))).rejects.toBe(broken);
    const signal = AbortSignal.timeout(20);
    await expect(retryStale(async () => STALE, { attempts: 100, pause: 10_000, signal })).rejects.toMatchObject({
      code: 'LOCK_ABORTED',
    });
  });
});
