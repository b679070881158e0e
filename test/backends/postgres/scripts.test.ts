import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { postgres, postgresAdvisory, setupScript } from '../../../src/backends/postgres/index.ts';
import { naming } from '../../../src/backends/postgres/options.ts';
import { aboutFunctions } from '../../../src/backends/postgres/schema.ts';
import { facts, rights } from '../../../src/backends/postgres/sql.generated.ts';
import { systemClock } from '../../../src/core/contract/clock.ts';
import { listOf } from '../../../src/core/contract/promises.ts';
import { createLocks } from '../../../src/index.ts';
import { describeOn } from '../../kit/suite.ts';
import { claimOf, Database } from './database.ts';

test('a name that the script would not take is refused, not left out', () => {
  for (const names of [{ prefx: 'mine' }, { prefix: 'a"b' }, { schema: '' }, 'mine'])
    expect(() => setupScript(names as object)).toThrow(expect.objectContaining({ code: 'LOCK_INVALID' }));
});

describeOn('postgres', 'a migration of one’s own', () => {
  test('the script is one text that can be run again, after which nothing has to be set up', async () => {
    await using database = await Database.start();
    const names = { schema: 'locks', prefix: 'mine' };
    for (let run = 0; run < 2; run++) await database.admin.query(setupScript(names));
    const tables = async () => database.sql("SELECT oid FROM pg_class WHERE relname LIKE 'mine%' ORDER BY oid");
    const before = await tables();
    const locks = createLocks(await database.open((pool) => postgres(pool, names)));
    expect(await locks.mutex('order').run(({ held }) => held)).toBe(true);
    await locks.close();
    expect(await tables()).toEqual(before);
  });
});

describeOn('postgres', 'a first use', () => {
  test.each([
    postgres,
    postgresAdvisory,
  ])('%o reports once what it made, and where; setup() reports nothing', async (make) => {
    await using database = await Database.start();
    const warnings: string[] = [];
    const onWarning = ({ code, message }: Error & { code?: string }) =>
      code === 'HOLDFAST_SETUP' && warnings.push(message);
    process.on('warning', onWarning);
    try {
      const locks = async (schema: string) => {
        const backend = await database.open((pool) => make(pool, { schema }));
        expect(await backend.attempt(claimOf('key', { id: 'one' }))).toMatchObject({ granted: true });
        await backend.close();
      };
      await (await database.open((pool) => make(pool, { schema: 'asked' }))).setup();
      await locks('asked');
      for (let n = 0; n < 2; n++) await locks('unasked');
      await new Promise(setImmediate);
      expect(warnings).toEqual([expect.stringMatching(/made its .*in the schema "unasked" of this database/)]);
      const mine = "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace";
      expect(await database.sql(mine), 'nothing is among the tables of others').toEqual([]);
    } finally {
      process.off('warning', onWarning);
    }
  });
});

describeOn('postgres', 'what is asked about a database that is known', () => {
  let database: Database;
  beforeAll(async () => {
    database = await Database.start();
    await database.sql('CREATE ROLE newcomer');
  });
  afterAll(() => database[Symbol.asyncDispose]());

  const onOne = async (asked: (client: pg.Client) => Promise<void>): Promise<void> => {
    const client = new pg.Client(database.server.url);
    await client.connect();
    await asked(client).finally(() => client.end());
  };
  /** Tables of its own for each run of a test. */
  const fresh = (): { prefix: string } => ({ prefix: `t${systemClock.id()}` });

  test('every right that is missing is reported, and nothing else: what is not there by its name alone', () =>
    onOne(async (client) => {
      const names = fresh();
      const { prefix } = names;
      const of = (table: string): string => `"holdfast"."${prefix}_${table}"`;
      const statement = naming(names)(aboutFunctions(rights));
      const missing = async (): Promise<string[]> => {
        await client.query('SET ROLE newcomer');
        const { rows } = await client.query<{ missing: string }>(statement);
        await client.query('RESET ROLE');
        return rows.map((row) => row.missing).toSorted();
      };
      const [tables, tokens] = [['keys', 'queue'], `USAGE and SELECT on ${of('tokens')}`];

      const nothing = ['keys', 'keys', 'keys', 'keys', 'meta', 'meta', 'queue', 'queue', 'queue', 'queue', 'tokens'];
      expect(await missing(), 'before it is set up').toEqual(nothing.map(of));

      await client.query(setupScript(names));
      const each = ['DELETE', 'INSERT', 'SELECT', 'UPDATE'].flatMap((right) =>
        [...tables, ...(right === 'SELECT' || right === 'UPDATE' ? ['meta'] : [])].map(
          (table) => `${right} on ${of(table)}`,
        ),
      );
      expect(await missing(), 'without the schema').toEqual(['USAGE on schema "holdfast"']);
      await client.query('GRANT USAGE ON SCHEMA holdfast TO newcomer');
      expect(await missing(), 'before anything is granted').toEqual([...each, tokens].toSorted());

      await client.query(`GRANT SELECT, UPDATE ON ${of('meta')} TO newcomer;
      GRANT SELECT, INSERT, UPDATE, DELETE ON ${of('keys')}, ${of('queue')} TO newcomer`);
      for (const half of ['USAGE', 'SELECT']) {
        await client.query(`GRANT ${half} ON SEQUENCE ${of('tokens')} TO newcomer`);
        expect(await missing(), `with ${half} alone on the sequence`).toEqual([tokens]);
        await client.query(`REVOKE ${half} ON SEQUENCE ${of('tokens')} FROM newcomer`);
      }
      await client.query(`GRANT USAGE, SELECT ON SEQUENCE ${of('tokens')} TO newcomer`);
      expect(await missing(), 'with all of them').toEqual([]);

      await client.query(`REVOKE EXECUTE ON FUNCTION ${of('renew')} FROM PUBLIC`);
      expect(await missing(), 'without a function').toEqual([`EXECUTE on holdfast.${prefix}_renew(json)`]);
    }));

  test('the oldest transaction and those who listen are of this database, and replicas are reported that follow asynchronously', () =>
    onOne(async (client) => {
      // What the server would have to be made to do for minutes is written down, in views that are found first.
      const schema = `s${systemClock.id()}`;
      await client.query(`CREATE SCHEMA "${schema}";
      CREATE VIEW "${schema}".pg_stat_activity AS
        SELECT datname, clock_timestamp() - ago AS xact_start, application_name, query FROM (VALUES
          (current_database(), interval '10 s', 'shop holdfast listens', NULL), (current_database(), interval '600 s', '', 'listen x'),
          (current_database(), NULL, '', 'SELECT 1'), ('elsewhere', interval '3600 s', '', 'LISTEN x')
        ) AS sessions(datname, ago, application_name, query);
      CREATE VIEW "${schema}".pg_stat_replication AS SELECT * FROM (VALUES
        ('second', 'async'), ('first', 'async'), ('safe', 'sync'), (NULL, NULL)) AS replicas(application_name, sync_state);
      SET search_path = "${schema}", pg_catalog`);
      const { rows } =
        await client.query<Record<'oldest_transaction' | 'listeners' | 'replicas' | 'replica_names', string>>(facts);
      await client.query('RESET search_path');
      const [{ oldest_transaction, listeners, replicas, replica_names }] = rows as [(typeof rows)[0]];
      expect(Number(oldest_transaction)).toBeGreaterThan(599);
      expect(Number(oldest_transaction)).toBeLessThan(700);
      expect(Number(listeners)).toBe(2);
      // Who may not see how one follows takes it for the worse.
      expect({ replicas: Number(replicas), replica_names }).toEqual({ replicas: 3, replica_names: 'first, second' });
    }));

  test('a function that somebody changed is reported, also where a copy of it as it was lies beside', async () => {
    const names = fresh();
    const name = `${names.prefix}_release`;
    const backend = await database.open((pool) => postgres(pool, names));
    await backend.setup();
    await database.sql(`DO $$ DECLARE body text := pg_get_functiondef('holdfast."${name}"'::regproc); BEGIN
      EXECUTE replace(body, 'holdfast.${name}(', 'holdfast.${name}_before(');
      EXECUTE replace(body, '-- holdfast revision', '-- by hand');
    END $$`);
    expect(await database.sql('SELECT FROM pg_proc WHERE proname = $1', [`${name}_before`])).toHaveLength(1);
    const found = (await backend.check!()).find(({ code }) => code === 'revision');
    expect(found).toMatchObject({ message: expect.stringContaining(name) });
    await backend.close();
  });

  test('a listing has the lines of its keys up to the last, who holds by the rule, and the times in ms; nobody who has expired', async () => {
    const names = fresh();
    await database.admin.query(setupScript(names));
    const line = naming(names)('{queue}');
    const hour = (sign: '-' | '+'): string => `clock_timestamp() ${sign} interval '1 hour'`;
    // In no order; of tokens as text 10 would come before 9.
    const rows: [key: string, token: number, units: number, capacity: number, expires: string][] = [
      ['b', 10, 1, 9, hour('+')],
      ['c', 1, 1, 1, hour('+')],
      ['b', 9, 1, 1, hour('+')],
      ['b', 8, 1, 1, hour('-')],
      ['a', 11, 2, 3, hour('+')],
      ['a', 12, 1, 3, hour('+')],
      ['a', 13, 1, 9, hour('+')],
    ];
    for (const [key, token, units, capacity, expires] of rows)
      await database.sql(
        `INSERT INTO ${line} (key, id, token, units, capacity, ttl, held, expires, joined, label)
           VALUES ($1, $2, $3, $4, $5, 7200000, false, ${expires}, ${hour('-')}, 'me')`,
        [Buffer.from(key), `${key} ${token}`, token, units, capacity],
      );
    await database.sql(
      naming(names)(`INSERT INTO {keys} (key, last, taken, capacity, expires, id, token, ttl, joined, label)
        VALUES ('aa', 5, 1, 1, ${hour('+')}, 'alone', 5, 7200000, ${hour('-')}, 'me'),
               ('ab', 6, 1, 1, ${hour('-')}, 'expired', 6, 7200000, ${hour('-')}, 'me')`),
    );
    const backend = await database.open((pool) => postgres(pool, names));
    const found = (await Promise.all(['a', 'b'].map((prefix) => listOf(backend.inspect!(prefix))))).flat();
    const listed = (key: string, held: boolean, position: number, token: bigint) => ({
      ...{ key, label: 'me', held, position, token },
    });
    expect(found.map(({ key, label, held, position, token }) => ({ key, label, held, position, token }))).toEqual([
      listed('a', true, 0, 11n),
      listed('a', true, 1, 12n),
      listed('a', false, 2, 13n),
      listed('aa', true, 0, 5n),
      listed('b', true, 0, 9n),
      listed('b', false, 1, 10n),
    ]);
    for (const { since, remaining } of found) {
      expect(since).toBeGreaterThanOrEqual(3_600_000);
      expect(since).toBeLessThan(3_660_000);
      expect(remaining).toBeGreaterThan(3_540_000);
      expect(remaining).toBeLessThanOrEqual(3_600_000);
    }
  });
});
