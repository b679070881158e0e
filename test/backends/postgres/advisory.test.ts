import pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { AdvisorySession } from '../../../src/backends/postgres/advisory-session.ts';
import {
  type AdvisoryBackend,
  type AdvisoryOptions,
  type PgClient,
  type PgQuery,
  postgresAdvisory,
} from '../../../src/backends/postgres/index.ts';
import { naming } from '../../../src/backends/postgres/options.ts';
import { advisoryKept, advisoryLook } from '../../../src/backends/postgres/sql.generated.ts';
import { type Clock, systemClock } from '../../../src/core/contract/clock.ts';
import { createLocks } from '../../../src/index.ts';
import { describeOn } from '../../kit/suite.ts';
import { settleWithin, until } from '../../kit/wait.ts';
import { claimOf, Database } from './database.ts';

const fresh = (): string => `key ${systemClock.id()}`;

describeOn('postgres', 'advisory locks', () => {
  let database: Database;
  beforeAll(async () => {
    database = await Database.start();
  });
  afterAll(() => database[Symbol.asyncDispose]());

  const open = (options?: AdvisoryOptions, config?: pg.PoolConfig): Promise<AdvisoryBackend> =>
    database.open((pool) => postgresAdvisory(pool, options), config);
  const locks = async (): Promise<number> =>
    Number((await database.sql("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"))[0]!.count);
  const waits = async (): Promise<number> =>
    Number((await database.sql("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"))[0]!.count);

  test('a hold is lost, and free, as soon as its session ends', async () => {
    const [backend, other] = [await open(), await open()];
    const claim = claimOf(fresh());
    const grant = await backend.attempt(claim);
    if (!grant.granted) throw new Error('the key is fresh');
    const lost = new Promise<void>((resolve) => grant.lost!.addEventListener('abort', () => resolve()));
    await database.sql(
      "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND pid <> pg_backend_pid()",
    );
    await settleWithin('the loss', lost, 4_000);
    expect(await backend.renew([claim])).toEqual(['gone']);
    expect(await backend.release(claim)).toEqual({ freed: false });
    expect(await other.attempt(claimOf(claim.key))).toMatchObject({ granted: true });
    await Promise.all([backend.close(), other.close()]);
  });

  test('a server that dies takes the holds with it, and is found again', async () => {
    await using own = await Database.start({});
    const backend = await own.open((pool) => postgresAdvisory(pool));
    const grant = await backend.attempt(claimOf('a'));
    await own.server.restart();
    await until('the loss', () => grant.granted && grant.lost!.aborted);
    const again = await backend.attempt(claimOf('a'));
    expect(again.granted && grant.granted && again.token > grant.token).toBe(true);
  });

  test('a wait that is cancelled as it is granted leaves no lock behind', async () => {
    const [holding, waiting] = [await open(), await open()];
    const ends = { granted: 0, refused: 0 };
    for (let race = 0; race < 150; race++) {
      const key = fresh();
      const [holder, waiter] = [claimOf(key), claimOf(key)];
      await holding.attempt(holder);
      const watch = await waiting.watch!(waiter, () => {});
      // The later the cancellation, by turns, the more often the grant is first.
      const cancelled = async () => {
        for (let n = 0; n < race % 10; n++) await new Promise(setImmediate);
        await watch[Symbol.asyncDispose]();
        const { granted } = await waiting.attempt(waiter);
        ends[granted ? 'granted' : 'refused']++;
        await waiting.release(waiter);
      };
      await Promise.all([holding.release(holder), cancelled()]);
      expect(await locks(), `locks left after race ${race}`).toBe(0);
    }
    await Promise.all([holding.close(), waiting.close()]);
  });

  test('a wait that is over in time leaves no wait on the server', async () => {
    const [holding, waiting] = [createLocks(await open()), createLocks(await open())];
    const key = fresh();
    const lease = await holding.mutex(key).acquire();
    const refused = waiting.mutex(key).acquire({ wait: 300 });
    await until('it waits on the server', async () => (await waits()) === 1);
    await expect(refused).rejects.toMatchObject({ code: 'LOCK_TIMEOUT' });
    await until('the wait is off the server', async () => (await waits()) === 0);
    await lease.release();
    await Promise.all([holding.close(), waiting.close()]);
    await until('nothing is left', async () => (await locks()) === 0);
  });

  test('a waiter is granted by the server, at once', async () => {
    const [holding, waiting] = [createLocks(await open()), createLocks(await open())];
    const key = fresh();
    const lease = await holding.mutex(key).acquire();
    const next = waiting.mutex(key).acquire();
    await until('it waits on the server', async () => (await waits()) === 1);
    await lease.release();
    const got = await settleWithin('the grant, without a poll', next, 1_500);
    expect(got.token > lease.token).toBe(true);
    await got.release();
    await Promise.all([holding.close(), waiting.close()]);
  });

  test('the number of sessions is bounded, and everybody is served', async () => {
    const sessions = 3;
    const backend = await open({ sessions }, { application_name: 'bounded' });
    const [holding, waiting] = [createLocks(await open()), createLocks(backend)];
    const keys = Array.from({ length: 12 }, fresh);
    const leases = await Promise.all(keys.map((key) => holding.mutex(key).acquire()));
    const served = keys.map((key) => waiting.mutex(key).run(async () => key));
    await until('two of them wait on the server', async () => (await waits()) === sessions - 1);
    const [row] = await database.sql("SELECT count(*)::int FROM pg_stat_activity WHERE application_name = 'bounded'");
    expect(row!.count).toBeLessThanOrEqual(sessions);
    await waiting.mutex(fresh()).run(async () => {}, { wait: 5_000 });
    await Promise.all(leases.map((lease) => lease.release()));
    expect(await settleWithin('everybody', Promise.all(served))).toEqual(keys);
    await Promise.all([holding.close(), waiting.close()]);
  });

  test('a waiting session that is killed starts to wait again', async () => {
    const [holding, waiting] = [createLocks(await open()), createLocks(await open())];
    const key = fresh();
    const lease = await holding.mutex(key).acquire();
    const next = waiting.mutex(key).acquire();
    await until('it waits on the server', async () => (await waits()) === 1);
    await database.sql("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted");
    await until('it waits on the server again', async () => (await waits()) === 1);
    await lease.release();
    await (await settleWithin('the grant', next)).release();
    await Promise.all([holding.close(), waiting.close()]);
  });

  test('a wait is not bound by the limit that an address has for statements', async () => {
    const pool = new pg.Pool({ connectionString: `${database.server.url}?query_timeout=100` });
    const [holding, waiting] = [await open(), postgresAdvisory(pool)];
    const [claim, waiter] = [claimOf(fresh()), claimOf('')];
    const second = { ...waiter, key: claim.key };
    await holding.attempt(claim);
    await waiting.attempt(second);
    const wakes: unknown[] = [];
    await using _ = await waiting.watch!(second, (grant) => wakes.push(grant));
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(wakes).toEqual([]);
    await holding.release(claim);
    await until('it is woken', () => wakes.length > 0);
    expect(wakes).toMatchObject([{ granted: true }]);
    await Promise.all([holding.close(), waiting.close()]);
    await pool.end();
  });

  test('a server that is silent as it is dialled is dialled again, and close waits for it no longer than that', async () => {
    let haste = 10;
    const after: Clock['after'] = (ms, fn, background) => systemClock.after(ms / haste, fn, background);
    const backend = await open({ clock: { ...systemClock, after } });
    const { proxy } = database.client(backend);
    const claim = claimOf(fresh());
    proxy.stall();
    await expect(settleWithin('the answer', backend.attempt(claim))).rejects.toThrow(/ended/);
    haste = 1;
    await proxy.pass();
    expect(await backend.attempt(claim)).toMatchObject({ granted: true });
    await settleWithin('the close', backend.close());
  });

  test('a wait goes on for as long as it takes, also in a role that may not see when its sessions began', async () => {
    await database.sql(`CREATE ROLE owner; CREATE SCHEMA IF NOT EXISTS holdfast; GRANT USAGE, CREATE ON SCHEMA holdfast TO owner;
      CREATE ROLE hired LOGIN IN ROLE owner; ALTER ROLE hired SET role = owner`);
    const [options, config] = [{ prefix: 'hired' }, { user: 'hired' }];
    const [holding, waiting] = [await open(options, config), await open(options, config)];
    const claim = claimOf(fresh());
    const second = claimOf(claim.key);
    expect(await holding.attempt(claim)).toMatchObject({ granted: true });
    expect(await waiting.attempt(second)).toMatchObject({ granted: false });
    const granted = Promise.withResolvers<unknown>();
    await waiting.watch!(second, (grant) => granted.resolve(grant));
    const session = async () => {
      const blocked = "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";
      return (await database.sql(`SELECT pid, query_start FROM pg_stat_activity WHERE pid IN (${blocked})`))[0];
    };
    await until('it waits on the server', async () => (await waits()) === 1);
    const { pid, query_start: began } = (await session())!;
    let next: Awaited<ReturnType<typeof session>>;
    await until('its next statement waits', async () => {
      next = await session();
      return next !== undefined && String(next.query_start) !== String(began);
    });
    expect(next?.pid, 'the session that waits').toEqual(pid);
    await holding.release(claim);
    expect(await settleWithin('the grant', granted.promise)).toMatchObject({ granted: true });
    await Promise.all([holding.close(), waiting.close()]);
  });

  test('a wait on a connection that broke silently is given up', async () => {
    const [holding, waiting] = [await open(), await open()];
    const claim = claimOf(fresh());
    const second = claimOf(claim.key);
    expect(await holding.attempt(claim)).toMatchObject({ granted: true });
    expect(await waiting.attempt(second)).toMatchObject({ granted: false });
    await using _ = await waiting.watch!(second, () => {});
    await until('it waits on the server', async () => (await waits()) === 1);
    const cut = vi.spyOn(AdvisorySession.prototype, 'cut');
    database.client(waiting).proxy.stall();
    await until('its session is ended', () => cut.mock.calls.length > 0, 15_000);
    cut.mockRestore();
    await Promise.all([holding.close(), waiting.close()]);
  });

  test('inside the lock an index can be made concurrently while others wait for the lock', async () => {
    const table = `t${systemClock.id()}`;
    await database.sql(`CREATE TABLE ${table} (number int)`);
    const [holding, waiting] = [createLocks(await open()), createLocks(await open())];
    const key = fresh();
    const lease = await holding.mutex(key).acquire();
    const next = waiting.mutex(key).acquire();
    await until('it waits on the server', async () => (await waits()) === 1);
    // A statement without an end keeps its snapshot, and the index waits for that.
    await settleWithin('the index', database.sql(`CREATE INDEX CONCURRENTLY ON ${table} (number)`), 25_000);
    await until('it waits on the server again', async () => (await waits()) === 1);
    await lease.release();
    expect((await settleWithin('the grant', next, 1_500)).token > lease.token).toBe(true);
    await next.then((got) => got.release());
    await Promise.all([holding.close(), waiting.close()]);
    await until('nothing is left', async () => (await locks()) === 0);
  });

  test('a wait on a server that was left is given up, and no session of the next one with the same number is hurt', async ({
    skip,
  }) => {
    const [known] = await database.sql("SELECT FROM pg_settings WHERE name = 'client_connection_check_interval'");
    if (!known) skip('PostgreSQL looks for a client that is gone from 14 on');
    await using left = await Database.start({});
    const key = fresh();
    const holder = await left.open((pool) => postgresAdvisory(pool));
    expect(await holder.attempt(claimOf(key))).toMatchObject({ granted: true });
    const innocent = await database.admin.connect();
    const { pid } = (await innocent.query('SELECT pg_backend_pid() AS pid')).rows[0];
    let dialled = 0;
    const connect = () => (++dialled === 1 ? new Numbered(left.server.url, pid) : new pg.Client(database.server.url));
    const waiting = await open({ connect });
    const claim = claimOf(key);
    expect(await waiting.attempt(claim)).toMatchObject({ granted: false });
    const watch = await waiting.watch!(claim, () => {});
    const blocked = "SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";
    await until('it waits there', async () => (await left.sql(blocked)).length === 1);
    const asleep = innocent.query('SELECT pg_sleep(0.5)').then(
      () => 'unhurt',
      (error) => String(error),
    );
    await watch[Symbol.asyncDispose]();
    expect(await asleep).toBe('unhurt');
    innocent.release();
    await until('the wait is over there, too', async () => (await left.sql(blocked)).length === 0);
    await Promise.all([holder.close(), waiting.close()]);
  });

  test('a session that waits for a lock and gets it gives that lock to no other claim of the process', async () => {
    const { promise: mayDial, resolve: dial } = Promise.withResolvers<void>();
    const dialled: PgClient[] = [];
    const connect = (): PgClient => {
      const client: PgClient = new pg.Client({ connectionString: database.server.url });
      const connected = client.connect.bind(client);
      const isFirst = dialled.push(client) === 1;
      return Object.assign(client, { connect: () => (isFirst ? connected() : mayDial.then(connected)) });
    };
    const backend = await open({ connect });
    const [holding, first, second] = [createLocks(await open()), createLocks(backend), createLocks(backend)];
    const key = fresh();
    const lease = await holding.mutex(key).acquire();
    const next = first.mutex(key).acquire();
    await until('the only session waits on the server', async () => (await waits()) === 1);
    const refused = second.mutex(key).acquire({ wait: 1_500 });
    await until('another session is dialled', () => dialled.length === 2);
    await lease.release();
    const got = await next;
    dial();
    await expect(refused, 'an acquisition beside the holder').rejects.toMatchObject({ code: 'LOCK_TIMEOUT' });
    await got.release();
    await (await second.mutex(key).acquire()).release();
    await Promise.all([holding.close(), first.close(), second.close()]);
  });

  test('a reader whose attempt fails frees no other reader that it has not lost', async () => {
    const [reading, writing] = [await open({ prefix: 'readers' }), await open({ prefix: 'readers' })];
    const reader = claimOf(fresh(), { units: 1 });
    const grant = await reading.attempt(reader);
    if (!grant.granted) throw new Error('the key is fresh');
    await database.sql('ALTER FUNCTION readers_token RENAME TO readers_away');
    await expect(reading.attempt(claimOf(reader.key, { units: 1 }))).rejects.toThrow();
    await database.sql('ALTER FUNCTION readers_away RENAME TO readers_token');
    const { granted } = await writing.attempt(claimOf(reader.key));
    expect(granted && !grant.lost!.aborted, 'both are inside').toBe(false);
    await Promise.all([reading.close(), writing.close()]);
  });

  test('a server that cannot look whether its client is still there will do', async () => {
    const config = { connectionString: database.server.url, options: '-c search_path=windows,pg_catalog' };
    await database.sql(`CREATE SCHEMA windows;
      CREATE FUNCTION windows.set_config(name text, value text, local bool) RETURNS text LANGUAGE plpgsql AS $$ BEGIN
        IF name = 'client_connection_check_interval' THEN
          RAISE invalid_parameter_value USING MESSAGE = 'it must be set to 0 on this platform';
        END IF;
        RETURN pg_catalog.set_config(name, value, local);
      END $$`);
    const backend = await open({ connect: () => new pg.Client(config) });
    expect(await backend.attempt(claimOf(fresh()))).toMatchObject({ granted: true });
    await backend.close();
  });

  test('a transaction pooler is noticed and refused', async () => {
    const behind = await open({ connect: () => new EveryStatementElsewhere(database.server.url) });
    await expect(behind.attempt(claimOf(fresh()))).rejects.toMatchObject({
      code: 'LOCK_UNAVAILABLE',
      message: expect.stringMatching(/pooler/),
    });
    expect((await behind.check!()).map(({ code }) => code)).toContain('no-session');
    await behind.close();
    await until('nothing is left', async () => (await locks()) === 0);
  });

  test('a transaction pooler that is noticed is left without a lock', async () => {
    const sessions = [1, 2].map(() => new pg.Client(database.server.url));
    await Promise.all(sessions.map((session) => session.connect()));
    let turn = 0;
    const connect = (): PgClient => ({
      processID: 1, // a pooler makes up this number
      connect: async () => {},
      query: (asked) => sessions[turn++ % 2]!.query(asked),
      on: () => {},
      end: async () => {},
    });
    const behind = await open({ connect });
    await expect(behind.attempt(claimOf(fresh()))).rejects.toThrow(/pooler/);
    expect(await locks()).toBe(0);
    await behind.close();
    await Promise.all(sessions.map((session) => session.end()));
  });

  test('a process locks also after its session ended while the sequence of the tokens was made', async () => {
    const names = { prefix: `t${systemClock.id()}` };
    const backend = await open(names, { application_name: names.prefix });
    const held = await database.admin.connect();
    const lock = naming(names)("(hashtextextended('{schema}', 0))");
    await held.query(`SELECT pg_advisory_lock${lock}`);
    const first = backend.attempt(claimOf(fresh())).catch(() => {});
    const ours = `FROM pg_stat_activity WHERE application_name = '${names.prefix}' AND wait_event_type`;
    await until(
      'the pool makes the sequence',
      async () => (await database.sql(`SELECT ${ours} = 'Lock'`)).length === 1,
    );
    const ended = await database.sql(`SELECT pg_terminate_backend(pid) ${ours} <> 'Lock'`);
    expect(ended.length, 'sessions that have ended').toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 100)); // the end arrives
    await held.query(`SELECT pg_advisory_unlock${lock}`);
    held.release();
    await settleWithin('the first attempt', first);
    expect(await backend.attempt(claimOf(fresh()))).toMatchObject({ granted: true });
    await backend.close();
  });

  /** A session of its own, with the function that draws tokens for fresh names. */
  const drawers = async (count: number): Promise<pg.Client[]> => {
    const clients = Array.from({ length: count }, () => new pg.Client(database.server.url));
    await Promise.all(clients.map((client) => client.connect()));
    return clients;
  };
  const tokens = async (): Promise<(client: pg.Client, least: number | null) => Promise<number>> => {
    const names = { prefix: `t${systemClock.id()}` };
    const backend = await open(names);
    await backend.setup();
    await backend.close();
    const statement = naming(names)('SELECT {token}($1::bigint)::int AS token');
    return async (client, least) => (await client.query<{ token: number }>(statement, [least])).rows[0]!.token;
  };

  test('a token that is asked to be high raises all after it, and one that is asked to be low lowers none', async () => {
    const draw = await tokens();
    const [client] = (await drawers(1)) as [pg.Client];
    const drawn: number[] = [];
    for (const least of [null, 1_000, null, 5, null, 1_004, 1_010]) drawn.push(await draw(client, least));
    expect(drawn).toEqual([1, 1_000, 1_001, 1_002, 1_003, 1_004, 1_010]);
    await client.end();
  });

  test.each(['schema', 'prefix'] as const)('another %s is another set of locks: it has other tokens', async (name) => {
    const [one, other] = [await open({ [name]: 'one' }), await open({ [name]: 'other' })];
    const key = fresh();
    for (const backend of [one, other])
      expect(await backend.attempt(claimOf(key))).toMatchObject({ granted: true, token: 1n });
    await Promise.all([one.close(), other.close()]);
  });

  test('who raises the tokens and who draws one wait for each other, or a token could go back', async () => {
    for (const [first, second] of [
      [1_000, null],
      [null, 1_000],
      [1_000, 2_000],
    ] as const) {
      const draw = await tokens();
      const [one, other] = (await drawers(2)) as [pg.Client, pg.Client];
      const { pid } = (await other.query('SELECT pg_backend_pid() AS pid')).rows[0];
      await one.query('BEGIN');
      const before = await draw(one, first);
      let drawn = false;
      const after = draw(other, second).then((token) => {
        drawn = true;
        return token;
      });
      const waiting = "SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND pid = $1";
      await until('it waits or has drawn', async () => drawn || (await database.sql(waiting, [pid])).length === 1);
      expect(drawn, `drawn with ${second} beside one with ${first}`).toBe(false);
      await one.query('COMMIT');
      expect(await after).toBeGreaterThan(before);
      await Promise.all([one.end(), other.end()]);
    }
  });

  test('who only draw tokens do not wait for each other', async () => {
    const draw = await tokens();
    const [one, other] = (await drawers(2)) as [pg.Client, pg.Client];
    await one.query('BEGIN');
    const before = await draw(one, null);
    expect(await settleWithin('the other', draw(other, null), 4_000)).toBeGreaterThan(before);
    await one.query('COMMIT');
    await Promise.all([one.end(), other.end()]);
  });

  test('a session is known again by its lock alone, whatever else it holds, and the lock is freed', async () => {
    const [client, other] = (await drawers(2)) as [pg.Client, pg.Client];
    for (const number of [2n ** 40n + 7n, -(2n ** 40n) + 7n]) {
      // One with the same upper half, one with the same lower half.
      const others = [number + 1n, number + 2n ** 32n].map(String);
      for (const each of others) await client.query('SELECT pg_advisory_lock($1)', [each]);
      const look = [String(number), null];
      const kept = async (session: pg.Client) => (await session.query(advisoryKept, [String(number)])).rows[0].kept;
      await client.query(advisoryLook, look);
      expect(await kept(other), 'another session').toBe(0);
      expect(await kept(client), 'the same').toBe(1);
      const left = "SELECT FROM pg_locks WHERE locktype = 'advisory' AND pid = $1";
      const { pid } = (await client.query('SELECT pg_backend_pid() AS pid')).rows[0];
      expect(await database.sql(left, [pid]), 'the others are left').toHaveLength(others.length);
      expect(await kept(client), 'once it is freed').toBe(0);
      await client.query('SELECT pg_advisory_unlock_all()');
    }
    await Promise.all([client.end(), other.end()]);
  });

  test('a new session gives the time of the server in ms', async () => {
    const [client] = (await drawers(1)) as [pg.Client];
    const now = async () => Number((await client.query('SELECT extract(epoch FROM clock_timestamp()) AS s')).rows[0].s);
    const before = await now();
    const time = Number((await client.query(advisoryLook, ['1', null])).rows[0].server_time);
    expect(time).toBeGreaterThanOrEqual(before * 1_000 - 1);
    expect(time).toBeLessThanOrEqual((await now()) * 1_000 + 1);
    await client.end();
  });
});

/** What a client behind a transaction pooler has: statements of one connection on sessions that take turns. */
class EveryStatementElsewhere implements PgClient {
  readonly #clients: pg.Client[];
  #turn = 0;

  constructor(url: string) {
    this.#clients = [new pg.Client(url), new pg.Client(url)];
  }

  connect(): Promise<unknown> {
    return Promise.all(this.#clients.map((client) => client.connect()));
  }

  query(query: PgQuery): ReturnType<PgClient['query']> {
    return this.#clients[this.#turn++ % 2]!.query(query);
  }

  on(event: string, listener: (argument: never) => void): void {
    for (const client of this.#clients) client.on(event as 'error', listener as () => void);
  }

  async end(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.end()));
  }
}

/** A session whose process happens to have a certain number. */
class Numbered extends pg.Client {
  constructor(url: string, number: number) {
    super(url);
    const query = this.query.bind(this) as (asked: PgQuery) => ReturnType<PgClient['query']>;
    const numbered = async (asked: PgQuery) => {
      const { rows } = await query(asked);
      return { rows: rows.map((row) => ('pid' in row ? { ...row, pid: number } : row)) };
    };
    Object.defineProperties(this, {
      query: { value: numbered },
      processID: { get: () => null, set: () => {} },
    });
  }
}
