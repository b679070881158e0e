import { setImmediate as drained } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Dial, PgClient } from '../../../src/backends/postgres/pool.ts';
import { Session } from '../../../src/backends/postgres/session.ts';
import { type Clock, systemClock } from '../../../src/core/contract/clock.ts';

/** The clock of a process that stands still, and then finds all timers late at once. */
function stallingClock() {
  let now = 0;
  const timers = new Set<{ readonly due: number; readonly fn: () => void }>();
  const clock: Clock = {
    ...systemClock,
    now: () => now,
    after(ms, fn) {
      const timer = { due: now + ms, fn };
      timers.add(timer);
      return () => timers.delete(timer);
    },
  };
  const standStill = (ms: number): void => {
    now += ms;
    for (const timer of [...timers]) if (timer.due <= now && timers.delete(timer)) timer.fn();
  };
  return { clock, standStill };
}

/** A session whose statement under way is answered once the test says so. */
async function scene() {
  const { clock, standStill } = stallingClock();
  const rows = [{ read_only: 'off' }];
  let answers: PromiseWithResolvers<{ rows: typeof rows }> | undefined;
  const client = {
    connect: async () => {},
    on() {},
    end: async () => {},
    query: () => answers?.promise ?? Promise.resolve({ rows }),
  };
  const session = await Session.open((() => client as unknown as PgClient) as Dial, clock);
  answers = Promise.withResolvers();
  const answer = (): void => {
    answers!.resolve({ rows });
    answers = Promise.withResolvers();
  };
  return { session, standStill, rows, answer };
}

test('a session whose answer has arrived while the process stood still is not ended', async () => {
  const { session, standStill, rows, answer } = await scene();
  const got = session.query('SELECT 1');
  await drained();
  standStill(6_000);
  answer(); // Node reads it after the timers
  await drained();
  standStill(1);
  expect(session.ended.aborted, 'whether the session, and so all its locks, is lost').toBe(false);
  expect(await got).toEqual(rows);
});

test('a statement that waits for its turn on a session that answers does not end it', async () => {
  const { session, standStill, answer } = await scene();
  const asked = [session.query('SELECT 1'), session.query('SELECT 2')];
  await drained();
  standStill(6_000);
  answer(); // only now the second one is sent
  await drained();
  standStill(1);
  expect(session.ended.aborted, 'whether the session, and so all its locks, is lost').toBe(false);
  answer();
  await Promise.all(asked);
});

test('a session that is still silent after the process stood still is ended', async () => {
  const { session, standStill } = await scene();
  void session.query('SELECT 1');
  await drained();
  standStill(6_000);
  await drained();
  standStill(1);
  expect(session.ended.aborted).toBe(true);
});
