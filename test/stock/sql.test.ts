import { createConnection } from 'mysql2/promise';
import pg from 'pg';
import { expect, test } from 'vitest';
import { createStock, type SqlStockOptions, sqlStock } from '../../products/stock/index.ts';
import { describeOnMysql } from '../kit/mysql-kinds.ts';
import { startPostgres } from '../kit/postgres.ts';
import { describeOn } from '../kit/suite.ts';
import { mysqlTransactions, postgresTransactions } from './stores.ts';

async function sells(options: SqlStockOptions): Promise<void> {
  const store = sqlStock(options);
  await Promise.all([1, 2, 3, 4].map(() => store.setup())); // as processes do that begin together
  await store.setup();
  const stock = createStock(store);
  const phones = await stock.create('phone', { units: 3, segments: 2 });
  await phones.take({ buyer: 'li', request: 'one', units: 2 });
  expect(await phones.audit()).toMatchObject({ sold: 2 });
}

describeOn('postgres', 'stock in PostgreSQL', () => {
  test('names that PostgreSQL would cut, so that three tables became one, are refused', () => {
    const transaction = () => expect.unreachable('nothing is sent');
    for (const tables of ['a'.repeat(60), `shop.${'a'.repeat(60)}`]) {
      expect(() => sqlStock({ dialect: 'postgres', transaction, tables })).toThrow(/63/);
    }
  });

  test('a crowd whose transactions are serializable is served', async () => {
    await using stack = new AsyncDisposableStack();
    const { url } = stack.use(await startPostgres({ default_transaction_isolation: 'serializable' }));
    const store = sqlStock({ dialect: 'postgres', transaction: postgresTransactions(url, stack) });
    await store.setup();
    const phones = await createStock(store).create('phone', { units: 200, segments: 1, reserve: 0 });
    const kept = await Promise.all(Array.from({ length: 200 }, () => phones.reserve()));
    await Promise.all(kept.map(({ ref }) => phones.confirm(ref)));
    expect(await phones.audit()).toMatchObject({ sold: 200, right: true });
  }, 60_000);

  test('what was told as sold stays sold, though the server does not wait for its disk and is killed', async () => {
    await using stack = new AsyncDisposableStack();
    const lazy = {
      synchronous_commit: 'off',
      wal_writer_delay: '10s',
      wal_writer_flush_after: '1GB',
      autovacuum: 'off',
    };
    const server = stack.use(await startPostgres(lazy));
    const store = sqlStock({ dialect: 'postgres', transaction: postgresTransactions(server.url, stack) });
    await store.setup();
    const stock = createStock(store);
    const phones = await stock.create('phone', { units: 5, segments: 1, reserve: 0 });
    await phones.take({ units: 2 });
    const { ref } = await phones.reserve({ units: 2 });
    await phones.confirm(ref);
    await server.restart(); // kills it
    expect(await (await stock.open('phone')).audit()).toMatchObject({ sold: 4, right: true });
  }, 60_000);

  test('its tables may be in a schema', async () => {
    await using stack = new AsyncDisposableStack();
    const { url } = stack.use(await startPostgres());
    const admin = new pg.Client(url);
    await admin.connect();
    await admin.query('CREATE SCHEMA shop');
    await admin.end();
    await sells({ dialect: 'postgres', transaction: postgresTransactions(url, stack), tables: 'shop.stock' });
  }, 60_000);
});

describeOnMysql('stock', ({ dialect, start }) => {
  test('its tables may be in another database', async () => {
    await using stack = new AsyncDisposableStack();
    const { url } = stack.use(await start());
    const transaction = mysqlTransactions(url, stack);
    await transaction((query) => query('CREATE DATABASE shop', []));
    await sells({ dialect, transaction, tables: 'shop.stock' });
  }, 60_000);

  test('connections that give texts as bytes will do', async () => {
    await using stack = new AsyncDisposableStack();
    const { url } = stack.use(await start());
    await sells({ dialect, transaction: mysqlTransactions(`${url}?charset=binary`, stack) });
  }, 60_000);

  test('the last hour of summer, which comes twice, gives no reservation a minute more or less', async () => {
    await using stack = new AsyncDisposableStack();
    const { url } = stack.use(await start());
    const connection = await createConnection(url);
    stack.defer(() => connection.end());
    const autumn = 1_700_000_000;
    const zone = [
      "INSERT INTO mysql.time_zone VALUES (900, 'N')",
      "INSERT INTO mysql.time_zone_name VALUES ('Summer', 900)",
      "INSERT INTO mysql.time_zone_transition_type VALUES (900, 0, 7200, 1, 'S'), (900, 1, 3600, 0, 'W')",
      `INSERT INTO mysql.time_zone_transition VALUES (900, 0, 0), (900, ${autumn}, 1)`,
      "SET time_zone = 'Summer'",
    ];
    for (const statement of zone) await connection.query(statement);
    const store = sqlStock({
      dialect,
      async transaction(work) {
        await connection.beginTransaction();
        const result = await work((sql, params) => connection.execute(sql, params as string[])).finally(() =>
          connection.commit(),
        );
        return result;
      },
    });
    await store.setup();
    await store.step('phone', 0, [{ op: 'open', epoch: 1 }]);
    await store.step('phone', 0, [{ op: 'put', epoch: 1, id: 'all', units: 9 }]);
    for (const at of [-3_700, -3_500, -1, 0, 60, 3_500, 3_700]) {
      await connection.query(`SET timestamp = ${autumn + at}`);
      const order = { id: `${at}`, buyer: '', units: 1, ttl: 600_000, limit: 0, already: 0, token: '' };
      const [reply] = await store.step('phone', 0, [{ op: 'take', epoch: 1, ...order }]);
      expect(reply, `${at} s from the change`).toMatchObject({ is: 'done', now: (autumn + at) * 1_000 });
    }
  }, 60_000);
});
