import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type PgClient,
  type PgPool,
  type PgQuery,
  type PostgresBackend,
  type PostgresOptions,
  postgres,
  postgresAdvisory,
} from '../../../src/backends/postgres/index.ts';
import { SHARED } from '../../../src/core/contract/admission.ts';
import { type Clock, systemClock } from '../../../src/core/contract/clock.ts';
import { createLocks } from '../../../src/index.ts';
import { startProxy } from '../../kit/proxy.ts';
import { describeOn } from '../../kit/suite.ts';
import { settleWithin, until } from '../../kit/wait.ts';
import { ACCOUNT, claimOf, Database } from './database.ts';

/** Runs out of patience ten times as soon. */
const hasty: Clock = { ...systemClock, after: (ms, fn, background) => systemClock.after(ms / 10, fn, background) };

/** A key of its own for each test: they run on one server. */
const fresh = (): string => `key ${systemClock.id()}`;

describeOn('postgres', 'the queue in a table', () => {
  let database: Database;
  beforeAll(async () => {
    database = await Database.start();
  });
  afterAll(() => database[Symbol.asyncDispose]());

  const open = (options?: PostgresOptions, config?: pg.PoolConfig): Promise<PostgresBackend> =>
    database.open((pool) => postgres(pool, options), config);
  const kill = (match: string) =>
    database.sql(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND query LIKE $1',
      [match],
    );

  const listening = async () => (await database.sql("SELECT FROM pg_stat_activity WHERE query LIKE 'LISTEN %'")).length;

  const blocked = (name: string) =>
    until(`${name} waits`, async () => {
      const waiting = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE $1";
      return (await database.sql(waiting, [`%holdfast_commit_${name}%`])).length > 0;
    });

  test('terminated backends cost no hold', async () => {
    const backend = await open();
    const claim = claimOf(fresh());
    await backend.attempt(claim);
    await kill('%holdfast_commit_attempt%');
    await until('the pool is whole again', async () => (await backend.renew([claim]))[0] !== undefined);
    expect(await backend.renew([claim])).toEqual([{ validFor: claim.ttl }]);
    expect(await backend.release(claim)).toEqual({ freed: true });
    await backend.close();
  });

  test('an admission while the LISTEN connection is away is noticed as soon as it is back, and not by the poll', async () => {
    let away = false;
    const connect = () => {
      if (away) throw new Error('away');
      return new pg.Client(database.server.url);
    };
    const backend = await open({ connect });
    const [holder, waiter] = [claimOf(fresh()), claimOf('')];
    const second = { ...waiter, key: holder.key };
    await backend.attempt(holder);
    let woken = Promise.withResolvers<void>();
    await using _ = await backend.watch!(second, () => woken.resolve());
    expect(await backend.attempt(second)).toMatchObject({ granted: false, ahead: 1 });
    await settleWithin('it listens, and says so', woken.promise);
    woken = Promise.withResolvers<void>();
    away = true;
    await kill('LISTEN %');
    await until('nobody listens', async () => (await listening()) === 0);
    await backend.release(holder);
    away = false;
    await settleWithin('the wake', woken.promise);
    expect(await backend.attempt(second)).toMatchObject({ granted: true });
    await backend.close();
  });

  test('an attempt that runs into lock_timeout is unknown, and leaves nothing', async () => {
    const key = fresh();
    const backend = await open({}, { options: '-c lock_timeout=100' });
    const claim = claimOf(key);
    await backend.attempt(claim);
    const other = await database.admin.connect();
    await other.query('BEGIN; LOCK TABLE holdfast_keys');
    const failure = await backend.attempt(claimOf(key)).catch((error) => error);
    expect(failure).toMatchObject({ code: '55P03' });
    await other.query('ROLLBACK');
    other.release();
    expect(await backend.release(claim)).toEqual({ freed: true });
    expect(await standings(backend, key)).toEqual([]);
    await backend.close();
  });

  test('a deadlock with another transaction is resolved by sending the statement again', async () => {
    const [held, next] = [claimOf(fresh()), claimOf(fresh())];
    // The server looks for a deadlock once, that long after a wait began: time for the rival to make it one.
    const backend = await open({}, { options: '-c deadlock_timeout=1500' });
    await backend.attempt(held);
    await backend.release(next); // the tables know one key only
    await backend.attempt(next);
    await backend.release(next);
    const rival = await database.admin.connect();
    await rival.query("SET deadlock_timeout = '10s'; BEGIN");
    const lock = (key: string) =>
      rival.query('SELECT FROM holdfast_keys WHERE key = $1 FOR UPDATE', [Buffer.from(key)]);
    await lock(next.key);
    const again = { ...next, id: systemClock.id() };
    const released = backend.release(held, again);
    await until(
      'the release waits for the rival',
      async () =>
        (
          await database.sql(
            "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%holdfast_commit_attempt_($1, $2, ROW%'",
          )
        ).length > 0,
    );
    await lock(held.key);
    await rival.query('COMMIT');
    rival.release();
    expect(await released).toMatchObject({ freed: true, next: { granted: true } });
    await backend.close();
  });

  test('a hold that was alone is renewed, though another joins in that moment', async () => {
    const backend = await open();
    const holder = claimOf(fresh());
    const first = claimOf(holder.key); // makes the key's row
    await backend.attempt(first);
    await backend.release(first);
    await backend.attempt(holder);
    const rows = await database.sql('SELECT id FROM holdfast_keys WHERE key = $1', [Buffer.from(holder.key)]);
    expect(rows, 'it is alone in the row of its key').toEqual([{ id: holder.id }]);
    const rival = await database.admin.connect();
    await rival.query('BEGIN');
    await rival.query('SELECT FROM holdfast_keys WHERE key = $1 FOR UPDATE', [Buffer.from(holder.key)]);
    const joined = backend.attempt(claimOf(holder.key));
    await blocked('attempt');
    const renewed = backend.renew([holder]);
    await blocked('renew');
    await rival.query('COMMIT');
    rival.release();
    expect(await joined).toMatchObject({ granted: false, ahead: 1 });
    expect(await renewed).toEqual([{ validFor: holder.ttl }]);
    expect(await backend.release(holder)).toEqual({ freed: true });
    await backend.close();
  });

  test('a hold that is renewed for a shorter time makes way when that time is over, also if it stood beside another', async () => {
    const backend = await open();
    const key = fresh();
    const [one, other] = [claimOf(key, SHARED), claimOf(key, SHARED)];
    for (const reader of [one, other]) expect(await backend.attempt(reader)).toMatchObject({ granted: true });
    await backend.release(other);
    expect(await backend.renew([{ ...one, ttl: 100 }])).toEqual([{ validFor: 100 }]);
    await until('it makes way', async () => (await backend.attempt(claimOf(key, { queue: false }))).granted);
    await backend.close();
  });

  test('a release that has to wait for the attempt it takes back frees what that took', async () => {
    const backend = await open();
    const [first, claim] = [claimOf(fresh()), claimOf('')];
    const asked = { ...claim, key: first.key };
    await backend.attempt(first); // makes the key's row
    await backend.release(first);
    const rival = await database.admin.connect();
    await rival.query('BEGIN');
    await rival.query('SELECT FROM holdfast_keys WHERE key = $1 FOR UPDATE', [Buffer.from(asked.key)]);
    const attempted = backend.attempt(asked);
    await blocked('attempt');
    const released = backend.release(asked);
    await blocked('release');
    await rival.query('COMMIT');
    rival.release();
    expect(await attempted).toMatchObject({ granted: true });
    expect(await released).toEqual({ freed: true });
    expect(await standings(backend, asked.key)).toEqual([]);
    await backend.close();
  });

  test('a release waits for an attempt that is making the row of a new key, and frees what that took', async () => {
    const backend = await open();
    await backend.renew([]); // sets up
    const claim = claimOf(fresh());
    const slow = await database.admin.connect(); // whose commit takes long, as when a synchronous replica is away
    await slow.query('BEGIN');
    const attempt =
      'SELECT holdfast_attempt(ROW($1, $2, $3, $4, 30000, 1, $5, true, NULL, NULL, NULL, 6000, NULL, NULL, NULL))';
    await slow.query(attempt, [Buffer.from(claim.key), claim.id, claim.units, claim.capacity, Buffer.from('')]);
    const released = backend.release(claim);
    await blocked('release');
    await slow.query('COMMIT');
    slow.release();
    expect(await released).toEqual({ freed: true });
    expect(await backend.release(claim)).toEqual({ freed: false });
    expect(await standings(backend, claim.key)).toEqual([]);
    await backend.close();
  });

  test('an attempt that waited for the row until it was too late is refused', async () => {
    const backend = await open();
    const before = claimOf(fresh());
    await backend.attempt(before);
    await backend.release(before);
    const rival = await database.admin.connect();
    await rival.query('BEGIN');
    await rival.query('SELECT FROM holdfast_keys WHERE key = $1 FOR UPDATE', [Buffer.from(before.key)]);
    const answer = backend.attempt(claimOf(before.key, { within: 200 }));
    await rival.query('SELECT pg_sleep(0.4)');
    await rival.query('ROLLBACK');
    rival.release();
    expect(await answer).toEqual({ granted: false, late: true });
    expect(await standings(backend, before.key)).toEqual([]);
    expect(await backend.attempt(claimOf(before.key, { queue: false }))).toMatchObject({ granted: true });
    await backend.close();
  });

  test('an attempt that stood still while its key was used and swept has a higher token than that', async () => {
    const backend = await open({ prefix: 'stood_still' });
    const [holder, quick] = [claimOf('key'), claimOf('key', { ttl: 20 })];
    await backend.attempt(holder);
    const rival = await database.admin.connect();
    await rival.query('BEGIN');
    await rival.query('SELECT FROM stood_still_keys FOR UPDATE');
    const stopped = backend.attempt(claimOf('key'));
    const waiting =
      "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%stood_still_commit_attempt%'";
    await until('it waits for the row', async () => (await database.sql(waiting)).length > 0);
    const pid = Number((await database.sql(waiting))[0]!.pid);
    process.kill(pid, 'SIGSTOP');
    try {
      await rival.query('COMMIT');
      await backend.release(holder);
      const before = await backend.attempt(quick);
      await backend.release(quick);
      await backend.attempt(claimOf('other')); // the sequence has to overtake the key's tokens
      await until('the key is swept', async () => (await backend.sweep(0)) === 1);
      process.kill(pid, 'SIGCONT');
      const after = await stopped;
      expect(after.granted && before.granted && after.token > before.token).toBe(true);
    } finally {
      process.kill(pid, 'SIGCONT');
      rival.release();
    }
    await backend.close();
  });

  test('an attempt that the first look at the tables kept until it was too late is refused', async () => {
    const backend = await open();
    const { proxy } = database.client(backend);
    const key = fresh();
    proxy.stall('up');
    const answer = backend.attempt(claimOf(key, { within: 200 }));
    await new Promise((resolve) => setTimeout(resolve, 400));
    await proxy.pass();
    expect(await answer).toEqual({ granted: false, late: true });
    expect(await standings(backend, key)).toEqual([]);
    await backend.close();
  });

  test('a server that is silent as it is dialled is dialled again, and close waits for it no longer than that', async () => {
    const proxy = await startProxy(database.server.port);
    const connect = () => new pg.Client({ ...ACCOUNT, host: proxy.host, port: proxy.port });
    const backend = await open({ connect, clock: hasty });
    const [holder, waiter] = [claimOf(fresh()), claimOf('')];
    const second = { ...waiter, key: holder.key };
    const before = (await listening()) + 1;
    proxy.stall();
    await backend.attempt(holder);
    await using _ = await backend.watch!(second, () => {});
    expect(await backend.attempt(second)).toMatchObject({ granted: false, ahead: 1 });
    await until('it has dialled again', () => proxy.connections > 1);
    await proxy.pass();
    await until('it listens', async () => (await listening()) === before);
    await settleWithin('the close', backend.close());
    await proxy[Symbol.asyncDispose]();
  });

  test('behind a pooler, the limits of a session that others will get are left as they are', async () => {
    const shared = new pg.Client({ connectionString: database.server.url, options: '-c statement_timeout=7s' });
    await shared.connect();
    const pooled = (): PgClient => ({
      processID: 1, // a pooler makes up this number
      connect: async () => {},
      query: (asked) => shared.query(asked),
      on: (event, listener) => shared.on(event as 'end', listener as () => void),
      end: async () => {},
    });
    const backend = await open({ connect: pooled });
    await backend.check!(); // opens it
    expect((await shared.query('SHOW statement_timeout')).rows).toEqual([{ statement_timeout: '7s' }]);
    await backend.close();
    await shared.end();
  });

  test.each(['LISTEN', 'SELECT pg_backend_pid'])('a session on which %s failed is ended', async (failing) => {
    const proxy = await startProxy(database.server.port);
    const connect = () => {
      const client = new pg.Client({ ...ACCOUNT, host: proxy.host, port: proxy.port });
      const query = client.query.bind(client) as (query: PgQuery) => Promise<pg.QueryResult>;
      client.query = ((asked: PgQuery) => {
        const fails = proxy.connections === 1 && asked.text.startsWith(failing);
        return query(fails ? { ...asked, text: 'LISTEN to whom?' } : asked);
      }) as unknown as typeof client.query;
      return client as unknown as PgClient;
    };
    const backend = await open({ connect });
    const [holder, waiter] = [claimOf(fresh()), claimOf('')];
    const second = { ...waiter, key: holder.key };
    await backend.attempt(holder);
    await using _ = await backend.watch!(second, () => {});
    expect(await backend.attempt(second)).toMatchObject({ granted: false, ahead: 1 });
    await until('it has dialled again', () => proxy.connections > 1);
    await until('only the second connection is left', () => proxy.open === 1);
    await backend.close();
    await until('none is left', () => proxy.open === 0);
    await proxy[Symbol.asyncDispose]();
  });

  test.each([
    'read committed',
    'repeatable read',
    'serializable',
  ])('no update is lost when the default is %s', async (level) => {
    const config = { options: `-c default_transaction_isolation=${level.replace(' ', '\\ ')}` };
    const all = await Promise.all([1, 2, 3].map(async () => createLocks(await open({}, config), { handOff: false })));
    const key = fresh();
    let [inside, done] = [0, 0];
    const work = async () => {
      expect(++inside).toBe(1);
      await new Promise(setImmediate);
      inside--;
      done++;
    };
    await Promise.all(Array.from({ length: 60 }, (_, n) => all[n % 3]!.mutex(key).run(work)));
    expect(done).toBe(60);
    await Promise.all(all.map((locks) => locks.close()));
  });

  test("the caller's open transaction is left alone", async () => {
    const backend = await open();
    const { pool } = database.client(backend);
    const claim = claimOf(fresh());
    const caller = await pool.connect();
    await caller.query('BEGIN; CREATE TABLE own (n int)');
    await backend.attempt(claim);
    await caller.query('ROLLBACK');
    caller.release();
    expect(await backend.renew([claim])).toEqual([{ validFor: claim.ttl }]);
    await backend.close();
  });

  test.each<[string, pg.PoolConfig]>([
    ['binary', { binary: true } as pg.PoolConfig],
    [
      'bigint',
      {
        types: {
          getTypeParser: ((type, format) =>
            [20, 23].includes(type) ? BigInt : pg.types.getTypeParser(type, format)) as typeof pg.types.getTypeParser,
        },
      },
    ],
    ['what the server sends', { types: { getTypeParser: () => (value: string) => value } }],
  ])('a pool whose own values come as %s will do', async (_, config) => {
    const backend = await open({}, config);
    const [claim, next] = [claimOf(fresh(), { label: 'ü' }), claimOf('')];
    expect(await backend.attempt(claim)).toMatchObject({ granted: true });
    expect(await standings(backend, claim.key)).toMatchObject([{ key: claim.key, held: true, label: 'ü' }]);
    expect(await backend.renew([claim])).toEqual([{ validFor: claim.ttl }]);
    expect(await backend.attempt({ ...next, key: claim.key })).toMatchObject({ granted: false, ahead: 1 });
    expect(await backend.release(claim)).toEqual({ freed: true });
    await backend.close();
    const advisory = await database.open((pool) => postgresAdvisory(pool), config);
    expect(await advisory.attempt(claim)).toMatchObject({ granted: true });
    expect(await advisory.release(claim)).toMatchObject({ freed: true });
    await advisory.close();
  });

  test('with a pool of one, waiters keep no connection from the queries beside them', async () => {
    const backend = await open({}, { max: 1 });
    const { pool } = database.client(backend);
    const [holders, locks] = [createLocks(await open()), createLocks(backend)];
    const key = fresh();
    const lease = await holders.mutex(key).acquire();
    const waiting = Array.from({ length: 20 }, () => locks.mutex(key).run(() => pool.query('SELECT 1')));
    await settleWithin('a query beside the waiters', pool.query('SELECT 1'));
    await lease.release();
    await settleWithin('all waiters', Promise.all(waiting));
    await Promise.all([locks.close(), holders.close()]);
  });

  test('sessions that forgot what was prepared, as those of a pooler, are asked without, all that are asked at once', async () => {
    const backend = await open({}, { max: 3 });
    const { pool } = database.client(backend);
    const tries = () => Promise.all([1, 2, 3].map(() => backend.attempt(claimOf(fresh(), { queue: false }))));
    await tries();
    const sessions = await Promise.all([1, 2, 3].map(() => pool.connect()));
    await Promise.all(sessions.map((session) => session.query('DISCARD ALL')));
    for (const session of sessions) session.release();
    expect(await tries()).toMatchObject(Array(3).fill({ granted: true }));
    await backend.close();
  });

  test('a link that fell silent gives its connection back to the pool', async () => {
    const backend = await open({ ownConnection: false }, { max: 1 });
    const { pool, proxy } = database.client(backend);
    const claim = claimOf(fresh());
    await backend.attempt(claim);
    proxy.blackhole('down');
    const silent = backend.renew([claim]).catch((error) => error);
    await until('the server has answered', () => proxy.dropped.down > 0);
    await proxy.pass(); // for others: what was lost does not come again
    expect((await settleWithin('a query of the application', pool.query('SELECT 1 AS one'), 15_000)).rows).toEqual([
      { one: 1 },
    ]);
    expect(await silent).toBeInstanceOf(Error);
    expect(await backend.renew([claim])).toEqual([{ validFor: claim.ttl }]);
    await backend.close();
  });

  test('the statements for a hand-over stay the same from 10 to 1,000 waiters', async () => {
    const cost = async (waiters: number): Promise<number> => {
      let statements = 0;
      const backend = await database.open((pool) =>
        postgres(
          counted(pool, () => statements++),
          { connect: () => new pg.Client(database.server.url) },
        ),
      );
      const locks = createLocks(backend, { handOff: false });
      const key = fresh();
      await Promise.all(Array.from({ length: waiters }, () => locks.mutex(key).run(async () => {})));
      await locks.close();
      return statements / waiters;
    };
    const [few, many] = [await cost(10), await cost(1_000)];
    expect(many, `${few} a hand-over with 10 waiters, ${many} with 1,000`).toBeLessThanOrEqual(Math.max(few, 1) * 1.5);
  });

  test('holds and tokens outlive a server that is killed', async () => {
    await using own = await Database.start({});
    const backend = await own.open((pool) => postgres(pool));
    const claim = claimOf('kept');
    const before = await backend.attempt(claim);
    await own.server.restart();
    await until('the pool is whole again', async () => (await backend.renew([claim])).length === 1);
    expect(await backend.attempt(claim)).toMatchObject({ granted: true, token: before.granted && before.token });
    await backend.release(claim);
    const after = await backend.attempt(claimOf('kept'));
    expect(after.granted && before.granted && after.token > before.token).toBe(true);
  });

  test('a sweep removes expired claims and idle keys, and tokens grow all the same', async () => {
    const prefix = 'swept';
    const backend = await open({ prefix });
    const first = await backend.attempt(claimOf('idle', { ttl: 20, tokenCount: 1_024 }));
    for (let n = 0; n < 3; n++) await backend.attempt(claimOf(`other ${n}`));
    const rows = () => database.sql(`SELECT convert_from(key, 'UTF8') AS key FROM swept_keys ORDER BY key`);
    await until(
      'the lease is over',
      async () =>
        (await backend.renew([claimOf('idle')]))[0] === 'gone' && (await standings(backend, 'idle')).length === 0,
    );
    expect(await backend.sweep(0)).toBe(0); // 1,024 tokens were reserved: the sequence has not come that far
    expect(await database.sql('SELECT FROM swept_queue WHERE held AND expires < now()')).toEqual([]);
    await database.sql("SELECT setval('swept_tokens', 5000)");
    expect(await backend.sweep(0)).toBe(1);
    expect((await rows()).map(({ key }) => key)).toEqual(['other 0', 'other 1', 'other 2']);
    const next = await backend.attempt(claimOf('idle'));
    expect(next.granted && first.granted && next.token > first.token + 1_023n).toBe(true);
    await backend.close();
  });
});

async function standings(backend: PostgresBackend, prefix: string): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const standing of backend.inspect!(prefix)) found.push(standing);
  return found;
}

const counted = (pool: pg.Pool, count: () => void): PgPool => ({
  query: (query) => {
    count();
    return pool.query(query);
  },
  on: (event, listener) => pool.on(event, listener),
});
