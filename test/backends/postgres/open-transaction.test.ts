import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PostgresBackend, postgres } from '../../../src/backends/postgres/index.ts';
import { systemClock } from '../../../src/core/contract/clock.ts';
import { describeOn } from '../../kit/suite.ts';
import { claimOf, Database } from './database.ts';

const fresh = (): string => `key ${systemClock.id()}`;

describeOn('postgres', 'a connection of the pool on which the application left a transaction open', () => {
  let database: Database;
  beforeAll(async () => {
    database = await Database.start();
  });
  afterAll(() => database[Symbol.asyncDispose]());

  /** A backend, and the way to leave a transaction open on the connection that it gets next. */
  async function opened(): Promise<{ backend: PostgresBackend; leaveOpen: (begin?: string) => Promise<void> }> {
    const backend = await database.open((pool) => postgres(pool), { max: 1 });
    const { pool } = database.client(backend);
    await backend.renew([]); // sets up, and prepares
    const leaveOpen = async (begin = 'BEGIN'): Promise<void> => {
      const client = await pool.connect();
      await client.query(begin).catch(() => {});
      client.release();
    };
    return { backend, leaveOpen };
  }

  /** Whether others see it: what is not committed, they do not. */
  const seen = async (key: string): Promise<boolean> =>
    (await database.sql('SELECT FROM holdfast_keys WHERE key = $1 AND taken > 0', [Buffer.from(key)])).length > 0;

  test.each([
    ['open', 'BEGIN'],
    ['open, with a snapshot of its own', 'BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT 1'],
    ['failed', 'BEGIN; SELECT 1 / 0'],
  ])('no grant is answered that a rollback could take away: %s', async (_, begin) => {
    const { backend, leaveOpen } = await opened();
    for (const claim of [claimOf(fresh()), claimOf(fresh())]) {
      await leaveOpen(begin);
      const first = await backend.attempt(claim);
      expect(first, 'another connection does for it').toMatchObject({ granted: true });
      expect(await seen(claim.key), 'a grant that is answered is committed').toBe(true);
      await leaveOpen(begin);
      expect(await backend.renew([claim])).toEqual([{ validFor: claim.ttl }]);
      await leaveOpen(begin);
      expect(await backend.release(claim)).toEqual({ freed: true });
      expect(await seen(claim.key), 'a release that is answered is committed').toBe(false);
    }
    await backend.close();
  });

  test('a forced release, a sweep and a hint are committed too', async () => {
    const { backend, leaveOpen } = await opened();
    const claim = claimOf(fresh());
    const grant = await backend.attempt(claim);
    await leaveOpen();
    expect(await backend.evict!(claim.key, grant.granted ? grant.token : 0n)).toBe(true);
    expect(await seen(claim.key)).toBe(false);
    await leaveOpen();
    await backend.hints!.write('word', 'kept', 60_000);
    const kept = "SELECT convert_from(text, 'UTF8') AS text FROM holdfast_values WHERE key = '\\xff'::bytea || 'word'";
    expect(await database.sql(kept)).toEqual([{ text: 'kept' }]);
    await leaveOpen();
    await backend.sweep(0);
    await backend.close();
  });

  test('setting up is committed, or refused', async () => {
    const backend = await database.open((pool) => postgres(pool, { prefix: 'left' }), { max: 1 });
    const { pool } = database.client(backend);
    const client = await pool.connect();
    await client.query('BEGIN');
    client.release();
    await backend.setup();
    expect(await database.sql('SELECT format FROM left_meta')).toEqual([{ format: 1 }]);
    await backend.close();
  });

  test('where every connection comes inside a transaction, the error names the cause', async () => {
    const backend = await database.open((pool) => {
      const begun = { query: (query: pg.QueryConfig) => within(pool, query), on: pool.on.bind(pool) };
      return postgres(begun as never);
    });
    await expect(backend.attempt(claimOf(fresh()))).rejects.toMatchObject({
      code: 'LOCK_UNAVAILABLE',
      message: expect.stringMatching(/inside a transaction that somebody had left open.*end every transaction/),
    });
    await backend.close();
  });
});

/** As a pool that begins a transaction for each statement, and never ends it. */
async function within(pool: pg.Pool, query: pg.QueryConfig): Promise<pg.QueryResult> {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    return await client.query(query);
  } finally {
    client.release(true);
  }
}
