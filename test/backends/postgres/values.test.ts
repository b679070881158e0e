import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PgPool, postgres, setupScript } from '../../../src/backends/postgres/index.ts';
import type { Backend, Claim, ValueCondition } from '../../../src/core/contract/backend.ts';
import { systemClock } from '../../../src/core/contract/clock.ts';
import { describeOn } from '../../kit/suite.ts';
import { until } from '../../kit/wait.ts';
import { claimOf, Database } from './database.ts';

const ANY: ValueCondition = { age: Number.POSITIVE_INFINITY, mark: '-', counts: 0 };
/** It is not answered, so it runs. */
const NONE: ValueCondition = { ...ANY, age: -1 };
const HOUR = 3_600_000;
const SECRET = 'a secret word';

describeOn('postgres', 'values in a table of their own', () => {
  let database: Database;
  beforeAll(async () => {
    database = await Database.start();
  });
  afterAll(() => database[Symbol.asyncDispose]());

  const fresh = (): { prefix: string } => ({ prefix: `w${systemClock.id()}`.slice(0, 20) });
  const store = async (backend: Backend, key: string, text = SECRET, ttl = HOUR): Promise<void> => {
    const holder = claimOf(key, { accepts: NONE });
    expect(await backend.attempt(holder)).toMatchObject({ granted: true });
    expect(await backend.store!(holder, { text, ttl })).toBe(true);
  };
  const asker = (key: string, accepts = ANY): Claim => claimOf(key, { accepts });
  const rows = async (prefix: string): Promise<number> =>
    Number((await database.sql(`SELECT count(*) FROM ${prefix}_values`))[0]!.count);

  test('a lock that stores nothing sends the same statements as ever, and none of their functions looks at the values', async () => {
    const names = fresh();
    const sent: string[] = [];
    const backend = await database.open((pool) => postgres(recorded(pool, sent), names));
    const [holder, waiter] = [claimOf('key'), claimOf('key')];
    await backend.attempt(holder);
    await backend.attempt(waiter);
    await backend.release(holder, claimOf('key'));
    await backend.renew([waiter]);
    await backend.release(waiter);
    const called = sent.flatMap(
      (text) => /^CALL "holdfast"\."(\w+)"/.exec(text)?.[1]?.replace(`${names.prefix}_`, '') ?? [],
    );
    expect(called).toEqual(['attempt', 'attempt', 'attempt', 'renew', 'release'].map((step) => `commit_${step}`));
    const looking = await database.sql(
      `SELECT proname AS name FROM pg_proc WHERE proname LIKE $1 AND prosrc LIKE '%${names.prefix}_values"%' ORDER BY proname`,
      [`${names.prefix}_%`],
    );
    expect(looking.map(({ name }) => String(name).replace(`${names.prefix}_`, ''))).toEqual([
      ...['ask', 'commit_forget', 'commit_look', 'keep', 'sweep', 'value_of'],
    ]);
    await backend.close();
  });

  test('an answer that is there writes nothing, and leaves what others hold alone', async () => {
    const names = fresh();
    const backend = await database.open((pool) => postgres(pool, names));
    await store(backend, 'key');
    const versions = () =>
      database.sql(
        `SELECT xmin::text, xmax::text FROM ${names.prefix}_keys UNION ALL SELECT xmin::text, xmax::text FROM ${names.prefix}_values`,
      );
    const before = await versions();
    for (let n = 0; n < 3; n++) expect(await backend.attempt(asker('key'))).toMatchObject({ value: { text: SECRET } });
    expect((await backend.values!.look('key')).value?.text).toBe(SECRET);
    expect(await versions(), 'no row was written, nor locked').toEqual(before);
    await backend.close();
  });

  test('each process that waits is notified once that there is a value, and no notification has any of its text', async () => {
    const names = fresh();
    const backend = await database.open((pool) => postgres(pool, names));
    const holder = claimOf('key', { accepts: NONE });
    await backend.attempt(holder);
    const waiters = [1, 2, 3].map(() => asker('key'));
    for (const waiter of waiters) await backend.attempt(waiter);
    const [{ channel }] = (await database.sql(
      `SELECT DISTINCT channel FROM ${names.prefix}_queue WHERE channel IS NOT NULL`,
    )) as [{ channel: string }];
    const listener = new pg.Client(database.server.url);
    await listener.connect();
    const notified: string[] = [];
    listener.on('notification', ({ payload }) => notified.push(payload!));
    await listener.query(`LISTEN "${channel}"`);
    await backend.store!(holder, { text: SECRET, ttl: HOUR });
    await until('the notifications are there', async () => (await listener.query('SELECT')) && notified.length >= 2);
    await listener.query('SELECT');
    expect(
      notified.filter((payload) => !payload.includes(' ')),
      'that there is a value',
    ).toEqual([Buffer.from('key').toString('hex')]);
    expect(
      notified.filter((payload) => payload.includes(' ')),
      'one grant, that of the next claim in the queue',
    ).toHaveLength(1);
    for (const form of [SECRET, Buffer.from(SECRET).toString('hex'), Buffer.from(SECRET).toString('base64')])
      expect(notified.join('\n')).not.toContain(form);
    await listener.end();
    await backend.close();
  });

  test('a sweep removes values that are over and attempts that no longer count, and no others', async () => {
    const names = fresh();
    const backend = await database.open((pool) => postgres(pool, { ...names, connect: false }));
    await store(backend, 'kept');
    for (let n = 0; n < 50; n++) await store(backend, `over ${n}`, 'x', 1);
    const counted = asker('counted', { ...ANY, counts: 1 });
    await backend.attempt({ ...counted, ttl: 10 });
    await until('all but one are over', async () => (await backend.values!.look('counted')).attempts === 0);
    await backend.sweep();
    expect(await rows(names.prefix)).toBe(1);
    expect((await backend.values!.look('kept')).value?.text).toBe(SECRET);
    await backend.close();
  });

  test('a hint is in no listing of values, and a sweep removes it once it is over', async () => {
    const names = fresh();
    const backend = await database.open((pool) => postgres(pool, { ...names, connect: false }));
    await backend.hints!.write('hint', 'kept', HOUR);
    await backend.hints!.write('over', 'gone', 1);
    await store(backend, 'key');
    const keys: string[] = [];
    for await (const key of backend.values!.keys!('')) keys.push(key);
    expect(keys).toEqual(['key']);
    await until('one is over', async () => (await backend.hints!.read('over')) === undefined);
    await backend.sweep();
    expect(await backend.hints!.read('hint')).toBe('kept');
    expect(await rows(names.prefix)).toBe(2);
    await backend.close();
  });

  test('a hundred runs of one key make its row no larger, and a look costs the same beside a snapshot that is held open', async () => {
    const names = fresh();
    const backend = await database.open((pool) => postgres(pool, names));
    await using stack = new AsyncDisposableStack();
    stack.defer(() => backend.close());
    const old = new pg.Client(database.server.url);
    await old.connect();
    stack.defer(() => old.end());
    await backend.setup();
    await old.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
    const cost = async (): Promise<number> => {
      const explained = await database.sql(
        `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT ${names.prefix}_value_of('key', NULL)`,
      );
      const [{ Plan }] = explained[0]!['QUERY PLAN'] as [{ Plan: Record<string, number> }];
      return Plan['Shared Hit Blocks']! + Plan['Shared Read Blocks']!;
    };
    const runs = async (count: number): Promise<void> => {
      for (let n = 0; n < count; n++) await store(backend, 'key', 'x'.repeat(100));
    };
    await runs(20);
    await cost();
    const early = await cost();
    await runs(400);
    const late = await cost();
    expect(late, `pages looked at: ${early} after 20 runs`).toBeLessThan(early * 2 + 4);
    expect(await rows(names.prefix)).toBe(1);
  });

  test('a role without rights to values locks and sweeps on; where it asks for a value the error says what to grant', async () => {
    const names = fresh();
    const { prefix } = names;
    const role = `${prefix}_worker`;
    await database.admin.query(setupScript(names));
    await database.sql(`CREATE ROLE ${role} LOGIN`);
    await database.sql(`GRANT USAGE ON SCHEMA holdfast TO ${role}; GRANT SELECT, UPDATE ON ${prefix}_meta TO ${role}`);
    await database.sql(`GRANT SELECT, INSERT, UPDATE, DELETE ON ${prefix}_keys, ${prefix}_queue TO ${role}`);
    await database.sql(`GRANT USAGE, SELECT ON SEQUENCE ${prefix}_tokens TO ${role}`);
    const backend = await database.open((pool) => postgres(pool, names), { user: role });
    const claim = claimOf('key');
    expect(await backend.attempt(claim)).toMatchObject({ granted: true });
    expect(await backend.release(claim)).toEqual({ freed: true });
    await backend.sweep();
    const refusal = { code: 'LOCK_UNAVAILABLE', message: expect.stringMatching(/lacks a right; grant/) };
    await expect(backend.attempt(asker('key'))).rejects.toMatchObject(refusal);
    await expect(backend.values!.look('key')).rejects.toMatchObject(refusal);
    await backend.close();
  });

  test('a server that takes no writes answers with no value or hint: it may not know the newest', async () => {
    const names = fresh();
    const backend = await database.open((pool) => postgres(pool, names));
    await store(backend, 'key');
    await backend.close();
    const readOnly = { options: '-c default_transaction_read_only=on' };
    const demoted = await database.open((pool) => postgres(pool, { ...names, setup: 'manual' }), readOnly);
    await expect(demoted.attempt(asker('key'))).rejects.toThrow(/read-only/);
    await expect(demoted.values!.look('key')).rejects.toThrow(/read-only/);
    await expect(demoted.hints!.read('hint')).rejects.toThrow(/read-only/);
    await demoted.close();
  });

  test('in a transaction that the application left open, no value of its old snapshot is given', async () => {
    const names = fresh();
    const [backend, other] = [
      await database.open((pool) => postgres(pool, names), { max: 1 }),
      await database.open((pool) => postgres(pool, names)),
    ];
    await store(backend, 'key', 'old');
    const { pool } = database.client(backend);
    const client = await pool.connect();
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
    client.release();
    await store(other, 'key', 'new');
    expect(await backend.attempt(asker('key'))).toMatchObject({ value: { text: 'new' } });
    await backend.close();
    await other.close();
  });
});

const recorded = (pool: pg.Pool, sent: string[]): PgPool => ({
  query: (query) => {
    sent.push(query.text);
    return pool.query(query);
  },
  on: (event, listener) => pool.on(event, listener),
});
