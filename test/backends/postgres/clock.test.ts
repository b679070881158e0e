import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PostgresBackend, postgres } from '../../../src/backends/postgres/index.ts';
import { type SteppedClock, steppedClock } from '../../kit/stepped-clock.ts';
import { describeOn } from '../../kit/suite.ts';
import { until } from '../../kit/wait.ts';
import { claimOf, Database } from './database.ts';

describeOn(['postgres', 'preload'], 'postgres, while the clock of its server is set back', () => {
  let clock: SteppedClock;
  let database: Database;
  let one: PostgresBackend;
  let other: PostgresBackend;

  beforeAll(async () => {
    clock = await steppedClock();
    database = await clock.under(() => Database.start());
    [one, other] = [await database.open((pool) => postgres(pool)), await database.open((pool) => postgres(pool))];
    for (const backend of [one, other]) await backend.sweep(); // so that nothing has to be set up later
  }, 60_000);
  afterAll(async () => {
    await database?.[Symbol.asyncDispose]();
    clock?.[Symbol.dispose]();
  });

  /** Sets it back while `act` has begun and waits for a table. @param sql what happens before it goes on */
  async function during<T>(ms: number, act: () => Promise<T>, table = 'holdfast_keys', sql = 'SELECT'): Promise<T> {
    const blocker = await database.admin.connect();
    try {
      await blocker.query('BEGIN');
      await blocker.query(`LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`);
      const done = act();
      const waiting = "SELECT count(*)::int AS n FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
      await until('it waits for the table', async () => (await database.sql(waiting))[0]!.n === 1);
      clock.step(-ms);
      await blocker.query(sql);
      await blocker.query('COMMIT');
      return await done;
    } finally {
      await blocker.query('ROLLBACK');
      blocker.release();
    }
  }

  test.each([
    50, 200, 5_000, 600_000,
  ])('by %d ms during a sweep, a renewal or an attempt, the holder stays', async (ms) => {
    const key = `set back by ${ms}`;
    const claim = claimOf(key);
    expect(await one.attempt(claim)).toMatchObject({ granted: true });
    await during(ms, () => other.sweep());
    expect(await during(ms, () => one.renew([claim]))).toEqual([{ validFor: claim.ttl }]);
    const late = await during(ms, () => other.attempt(claimOf(key, { queue: false })));
    expect(late, 'another, while it is set back').toMatchObject({ granted: false });
    expect(await other.attempt(claimOf(key, { queue: false })), 'another, later').toMatchObject({ granted: false });
    expect(await one.release(claim)).toMatchObject({ freed: true });
  });

  test('a sweep that had begun before does not take away what was renewed after', async () => {
    const [before, claim] = [claimOf('renewed after'), claimOf('renewed after')];
    await one.attempt(before);
    await one.release(before); // who takes a key that was used before is alone in its row
    expect(await one.attempt(claim)).toMatchObject({ granted: true });
    const renewed = `UPDATE holdfast_keys SET expires = clock_timestamp() + interval '30 s' WHERE key = 'renewed after'`;
    await during(600_000, () => other.sweep(), 'holdfast_meta', renewed);
    expect(await one.renew([claim])).toEqual([{ validFor: claim.ttl }]);
    expect(await other.attempt(claimOf(claim.key, { queue: false })), 'another').toMatchObject({ granted: false });
  });

  test('sweeps go on, though the last one is still to come', async () => {
    await one.sweep();
    clock.step(-600_000);
    const dead = claimOf('dead', { ttl: 20 });
    expect(await one.attempt(dead)).toMatchObject({ granted: true });
    await until('a sweep removes what has expired', async () => {
      await other.sweep();
      return (await database.sql('SELECT FROM holdfast_queue WHERE id = $1', [dead.id])).length === 0;
    });
  });
});
