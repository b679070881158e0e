import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PgPool, postgres } from '../../../src/backends/postgres/index.ts';
import { type Clock, systemClock } from '../../../src/core/contract/clock.ts';
import { describeOn } from '../../kit/suite.ts';
import { until } from '../../kit/wait.ts';
import { claimOf, Database } from './database.ts';

const ROWS = 20_000;

describeOn('postgres', 'keys that were used once', () => {
  let database: Database;
  beforeAll(async () => {
    database = await Database.start();
  });
  afterAll(() => database[Symbol.asyncDispose]());

  const fill = async (prefix: string): Promise<void> => {
    await database.sql(
      `INSERT INTO ${prefix}_keys (key, last, capacity, expires)
       SELECT convert_to('once ' || n, 'UTF8'), n, 1, now() - interval '1 day' FROM generate_series(1, ${ROWS}) n`,
    );
    await database.sql(`SELECT setval('${prefix}_tokens', ${ROWS + 1})`);
  };
  const left = async (prefix: string): Promise<number> =>
    Number((await database.sql(`SELECT count(*) FROM ${prefix}_keys`))[0]!.count);

  test('are all gone after one sweep, in parts that lock few of them at a time', async ({ skip }) => {
    const [{ old }] = (await database.sql("SELECT current_setting('server_version_num')::int < 140000 AS old")) as [
      { old: boolean },
    ];
    if (old) skip('PostgreSQL finds pages by their number from 14 on; before, one sweep is one part');
    let statements = 0;
    const backend = await database.open((pool) =>
      postgres(
        counted(pool, () => statements++),
        { prefix: 'swept_once', connect: false },
      ),
    );
    await backend.setup();
    await fill('swept_once');
    const held = claimOf('held');
    await backend.attempt(held);
    expect(await backend.sweep()).toBe(ROWS);
    expect(statements, 'statements, with none removing more than some thousands').toBeGreaterThan(ROWS / 5_000);
    expect(await left('swept_once')).toBe(1);
    expect(await backend.renew([held])).toEqual([{ validFor: held.ttl }]);
    await backend.close();
  });

  test('are swept by one process at a time by themselves, though nobody asks', async () => {
    /** A minute is over in 60 ms. */
    const hasty: Clock = {
      ...systemClock,
      after: (ms, fn, background) => systemClock.after(ms / 1_000, fn, background),
    };
    const backends = await Promise.all(
      [1, 2].map(() =>
        database.open((pool) => postgres(pool, { prefix: 'swept_alone', connect: false, clock: hasty })),
      ),
    );
    await backends[0]!.setup();
    await fill('swept_alone');
    for (const backend of backends) await backend.renew([]);
    await until('they are gone', async () => (await left('swept_alone')) === 0, 15_000);
    for (const backend of backends) await backend.close();
  });
});

const counted = (pool: pg.Pool, count: () => void): PgPool => ({
  query: (query) => {
    count();
    return pool.query(query);
  },
  on: (event, listener) => pool.on(event, listener),
});
