import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PgClient, type PgPool, postgres, postgresAdvisory } from '../../../src/backends/postgres/index.ts';
import { describeOn } from '../../kit/suite.ts';
import { until } from '../../kit/wait.ts';
import { claimOf, Database } from './database.ts';

/** As the servers say it of themselves. */
const PRODUCTS = [
  ['CockroachDB', 'CockroachDB CCL v24.3.1 (x86_64-pc-linux-gnu, built 2024/12/09 18:53:34, go1.22.8)'],
  ['YugabyteDB', 'PostgreSQL 15.2-YB-2.25.1.0-b0 on x86_64-pc-linux-gnu, compiled by clang version 17.0.6, 64-bit'],
] as const;

describeOn('postgres', 'servers that only look like PostgreSQL, and settings that differ', () => {
  let database: Database;
  beforeAll(async () => {
    database = await Database.start();
    for (const [name, version] of PRODUCTS) {
      await database.sql(`CREATE SCHEMA ${name};
        CREATE FUNCTION ${name}.version() RETURNS text LANGUAGE sql AS $$ SELECT '${version}' $$`);
    }
  });
  afterAll(() => database[Symbol.asyncDispose]());

  test.each(
    PRODUCTS.map(([name]) => name),
  )('%s: advisory locks are refused, and check calls the table untested', async (name) => {
    const config = { options: `-c search_path=${name.toLowerCase()},pg_catalog,public` };
    const advisory = await database.open((pool) => postgresAdvisory(pool), config);
    await expect(advisory.attempt(claimOf('a'))).rejects.toMatchObject({
      code: 'LOCK_UNAVAILABLE',
      message: expect.stringMatching(new RegExp(`the server is ${name}, where an advisory lock may keep nobody out`)),
    });
    const table = await database.open((pool) => postgres(pool), config);
    const found = await table.check!();
    expect(found.find(({ code }) => code === 'untested')).toMatchObject({ severity: 'warning' });
    await Promise.all([advisory.close(), table.close()]);
  });

  test('on a session that a pooler shares out, nobody listens, unless it pools whole sessions', async () => {
    const shared = new pg.Client(database.server.url);
    await shared.connect();
    const pooled = (): PgClient => ({
      processID: 1, // a pooler makes up this number
      connect: async () => {},
      query: (asked) => shared.query(asked),
      on: () => {},
      end: async () => {},
    });
    const listening = async () =>
      Number((await shared.query('SELECT count(*) FROM pg_listening_channels()')).rows[0].count);
    for (const [pooler, expected] of [
      [undefined, 0],
      ['session', 2], // its own, and that of evictions
    ] as const) {
      const backend = await database.open((pool) => postgres(pool, { connect: pooled, pooler }));
      await backend.setup();
      await backend.check!(); // which opens the connection that listens, if there is one
      expect(await listening(), `channels listened to with pooler: ${pooler}`).toBe(expected);
      await backend.close();
    }
    await shared.end();
  });

  test('a replica that follows asynchronously is named by check', async () => {
    await database.sql(
      'CREATE SCHEMA followed; CREATE TABLE followed.pg_stat_replication (application_name text, sync_state text)',
    );
    await database.sql("INSERT INTO followed.pg_stat_replication VALUES ('west', 'async'), ('near', 'sync')");
    const backend = await database.open((pool) => postgres(pool), {
      options: '-c search_path=followed,pg_catalog,public',
    });
    const found = (await backend.check!()).find(({ code }) => code === 'asynchronous-replica');
    expect(found?.message).toMatch(/\(west\)/);
    await backend.close();
  });

  test('while the queue of messages is full, a release goes on without its message', async () => {
    // The server refuses a transaction that has a message as it commits; so does this one, wherever a message is sent.
    await database.sql(`CREATE SCHEMA crammed;
      CREATE TABLE crammed.sent (channel text);
      CREATE FUNCTION crammed.refuse() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN RAISE program_limit_exceeded USING MESSAGE = 'too many notifications in the NOTIFY queue'; END $$;
      CREATE CONSTRAINT TRIGGER at_commit AFTER INSERT ON crammed.sent DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION crammed.refuse();
      CREATE FUNCTION crammed.pg_notify(channel text, payload text) RETURNS void LANGUAGE sql AS $$
        INSERT INTO crammed.sent VALUES (channel) $$;`);
    const config = { options: '-c search_path=crammed,pg_catalog,public' };
    const [backend, other] = [
      await database.open((pool: PgPool) => postgres(pool, { prefix: 'full' }), config),
      await database.open((pool: PgPool) => postgres(pool, { prefix: 'full' }), config),
    ];
    const [holder, waiter] = [claimOf('key'), claimOf('key')];
    await backend.attempt(holder);
    expect(await other.attempt(waiter)).toMatchObject({ granted: false });
    expect(await backend.release(holder), 'the release, without its message').toEqual({ freed: true });
    expect(await other.renew([waiter]), 'the one who waited is admitted').toEqual([{ validFor: waiter.ttl }]);
    const next = claimOf('key');
    await backend.attempt(next);
    expect(await other.release(waiter, claimOf('other'))).toMatchObject({ freed: true, next: { granted: true } });
    expect(await database.sql('SELECT FROM crammed.sent')).toEqual([]);
    await Promise.all([backend.close(), other.close()]);
  });

  test('check looks how full the queue of messages is', async () => {
    await database.sql(`CREATE SCHEMA filling;
      CREATE FUNCTION filling.pg_notification_queue_usage() RETURNS float8 LANGUAGE sql AS 'SELECT 0.9::float8'`);
    const backend = await database.open((pool) => postgres(pool), {
      options: '-c search_path=filling,pg_catalog,public',
    });
    await until('it is reported', async () =>
      (await backend.check!()).some(({ code }) => code === 'notification-queue'),
    );
    await backend.close();
  });
});
