import { createConnection } from 'mysql2/promise';
import pg from 'pg';
import { expect, test } from 'vitest';
import type { Step } from '../../products/stock/cell.ts';
import { type SqlStockOptions, sqlStock } from '../../products/stock/index.ts';
import { MYSQL_KINDS } from '../kit/mysql-kinds.ts';
import { startPostgres } from '../kit/postgres.ts';
import type { Part } from '../kit/selection.ts';
import type { Server } from '../kit/server.ts';
import { steppedClock } from '../kit/stepped-clock.ts';
import { describeOn } from '../kit/suite.ts';
import { until } from '../kit/wait.ts';
import { mysqlTransactions, postgresTransactions } from './stores.ts';

type Transaction = SqlStockOptions['transaction'];

interface Database {
  readonly parts: readonly Part[];
  readonly dialect: SqlStockOptions['dialect'];
  start(): Promise<Server>;
  transactions(url: string, stack: AsyncDisposableStack): Transaction;
  /** A session of its own, which says what it is told. */
  session(
    url: string,
    stack: AsyncDisposableStack,
  ): Promise<(sql: string, params?: readonly unknown[]) => Promise<unknown>>;
  /** Counts the statements that wait for a row, as text. */
  readonly waiting: string;
}

const DATABASES: readonly Database[] = [
  ...MYSQL_KINDS.map(
    ({ dialect, need, start }): Database => ({
      parts: ['mysql', need],
      dialect,
      start: () => start(),
      transactions: mysqlTransactions,
      async session(url, stack) {
        const connection = await createConnection(url);
        stack.defer(() => connection.end());
        return (sql, params = []) => connection.query(sql, params as string[]);
      },
      waiting: "SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'",
    }),
  ),
  {
    parts: ['postgres'],
    dialect: 'postgres',
    start: () => startPostgres(),
    transactions: postgresTransactions,
    async session(url, stack) {
      const client = new pg.Client(url);
      await client.connect();
      stack.defer(() => client.end());
      return (sql, params = []) => client.query(sql, [...params]);
    },
    waiting: "SELECT count(*)::text AS value FROM pg_stat_activity WHERE wait_event_type = 'Lock'",
  },
];

const TTL = 60_000;
const reserve = (id: string) =>
  ({ op: 'take', epoch: 1, id, buyer: '', units: 1, ttl: TTL, limit: 0, already: 0, token: '' }) as const;

for (const { parts, dialect, start, transactions, session, waiting } of DATABASES) {
  describeOn([...parts, 'preload'], `stock in ${dialect}, while the clock of its server is set back`, () => {
    test('no reservation ends before its time, also for who waits for the segment meanwhile', async () => {
      await using stack = new AsyncDisposableStack();
      const clock = stack.use(await steppedClock());
      const { url } = stack.use(await clock.under(start));
      const store = sqlStock({ dialect, transaction: transactions(url, stack) });
      await store.setup();
      const [one, other] = [await session(url, stack), await session(url, stack)];
      const inOne = sqlStock({ dialect, transaction: (work) => work(one) });

      for (const [segment, ms] of [50, 200, 5_000, 600_000].entries()) {
        const step = (...steps: readonly Step[]) => store.step('phone', segment, steps);
        await step({ op: 'open', epoch: 1 }, { op: 'put', epoch: 1, id: 'all', units: 9 }, reserve('before'));
        await one('BEGIN');
        await inOne.step('phone', segment, [{ op: 'look' }]); // takes the segment
        const late = step(reserve('late'));
        await until('it waits for the segment', async () => /"value":"1"/i.test(JSON.stringify(await other(waiting))));
        clock.step(-ms);
        await inOne.step('phone', segment, [reserve('meanwhile')]);
        await one('COMMIT');
        expect(await late).toMatchObject([{ is: 'done' }]);
        for (const id of ['before', 'meanwhile', 'late']) {
          const [found] = await step({ op: 'find', id, buyer: '' });
          expect(found, `${id}, set back by ${ms} ms`).toMatchObject({ is: 'reserved' });
          const left = found!.until! - clock.now();
          expect(left, `ms left of ${id}, set back by ${ms} ms`).toBeGreaterThan(TTL - 5_000);
        }
      }
    }, 60_000);
  });
}
