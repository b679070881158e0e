import { EventEmitter } from 'node:events';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pass } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { book, onMessage, SCHEMA } from '../../examples/recipes/message-once.ts';
import { migrate, STEPS } from '../../examples/recipes/migrations.ts';
import { type Connection, keepConnected } from '../../examples/recipes/one-connection.ts';
import { crawl } from '../../examples/recipes/one-per-site.ts';
import { StockService, sell } from '../../examples/recipes/over-services.ts';
import { callPartner } from '../../examples/recipes/partner-calls.ts';
import { FEED, poll, poller } from '../../examples/recipes/poller.ts';
import { everyFiveMinutes } from '../../examples/recipes/scheduled-job.ts';
import { around } from '../../products/testing/around.ts';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import type { Backend } from '../../src/core/contract/backend.ts';
import { createLocks, type Locks } from '../../src/index.ts';
import { timerOf } from '../kit/timer.ts';
import { settleWithin, until } from '../kit/wait.ts';
import { breaksAndIsOpenedAgain } from './broken-connection.ts';

/** Instances of a service over one engine. */
let engine: Backend;
let instances: [Locks, Locks, Locks];
beforeEach(() => {
  engine = memory();
  instances = [createLocks(engine), createLocks(engine), createLocks(engine)];
});
afterEach(async () => {
  for (const locks of instances) await locks.close();
});

/** Instances of a service that have the loop, on a clock that is moved: what they ran, when, and what they said. */
function schedule(job: () => Promise<void> = async () => {}) {
  const clock = manualClock();
  const shared = memory({ clock });
  const stop = new AbortController();
  const ran: string[] = [];
  const said: unknown[] = [];
  const ends: Promise<void>[] = [];
  const timeOf = (at: number): string => new Date(at).toISOString().slice(11, 19);
  return {
    clock,
    ran,
    said,
    start(behind = 0): void {
      const { now, sleep } = timerOf(clock, behind);
      const locks = createLocks(around(shared, { close: async () => {} }), { clock: { ...clock, epoch: now } });
      const run = async ({ tick }: { readonly tick: Date }): Promise<void> => {
        ran.push(timeOf(tick.getTime()));
        await job();
      };
      const loop = everyFiveMinutes(locks, run, stop.signal, (word) => said.push(word), { now, sleep });
      ends.push(loop.finally(() => locks.close()));
    },
    async end(): Promise<void> {
      stop.abort();
      await settleWithin('the loops end', Promise.all(ends));
    },
  };
}
const MINUTE = 60_000;

test('a job runs once at each tick, whenever its instances began, and with clocks that differ by a little', async () => {
  const { clock, ran, said, start, end } = schedule();
  await clock.advance(3 * MINUTE);
  start();
  await clock.advance(40_000);
  start(300);
  await clock.advance(79_000);
  start(-300);
  await clock.advance(16 * MINUTE);
  await end();
  expect([ran, said]).toEqual([['00:05:00', '00:10:00', '00:15:00', '00:20:00'], []]);
});

test('a job that fails runs again at the next tick, and one whose machine slept is told as late and goes on', async () => {
  let runs = 0;
  const { clock, ran, said, start, end } = schedule(async () => {
    if (++runs === 1) throw new Error('no report today');
  });
  start();
  await clock.advance(6 * MINUTE);
  expect(said).toEqual([expect.objectContaining({ message: 'no report today' })]);
  clock.suspend(2 * MINUTE); // its timer for 00:10 fires at 00:12
  await clock.advance(9 * MINUTE);
  await end();
  expect(ran).toEqual(['00:05:00', '00:15:00']);
  expect(said.slice(1)).toEqual(['the tick of 2026-01-01T00:10:00.000Z was late here']);
});

test('a feed is read by one at a time, on from where the last one stopped, and an old leader writes nothing', async () => {
  const db = new DatabaseSync(':memory:');
  db.exec(FEED);
  let reading = 0;
  const fetch = async (cursor: number) => {
    expect(++reading, 'readers at a time').toBe(1);
    await pass(1);
    reading--;
    return { entries: [`entry ${cursor}`], next: cursor + 1 };
  };
  const position = () => Number((db.prepare('SELECT cursor FROM feed').get() as { cursor: number }).cursor);
  for (const locks of instances) {
    const before = position();
    const stop = new AbortController();
    const running = poller(locks, db, fetch, stop.signal);
    await until('it reads on', () => position() > before + 2);
    stop.abort();
    await running;
  }
  const { fence } = db.prepare('SELECT fence FROM feed').get() as { fence: number };
  const old = { token: BigInt(fence - 1), signal: new AbortController().signal };
  await expect(poll(db, fetch, old)).rejects.toThrow('another leads by now');
  expect(Number((db.prepare('SELECT count(*) AS n FROM entries').get() as { n: number }).n)).toBe(position());
  db.close();
});

test('a feed that fails is read on after a pause, and one that has nothing new is not asked without end', async () => {
  const db = new DatabaseSync(':memory:');
  db.exec(FEED);
  let asked = 0;
  const fetch = async (cursor: number) => {
    if (++asked === 2) throw new Error('the partner does not answer');
    await pass(1);
    return cursor < 3 ? { entries: [`entry ${cursor}`], next: cursor + 1 } : { entries: [], next: cursor };
  };
  const stop = new AbortController();
  const running = poller(instances[0], db, fetch, stop.signal);
  await until('it has found nothing new', () => asked >= 5);
  await pass(200);
  expect(asked, 'three entries, a failure, and one look that found nothing').toBe(5);
  stop.abort();
  await settleWithin('it stops in its pause', running);
  expect(db.prepare('SELECT count(*) AS n FROM entries').get()).toEqual({ n: 3 });
  db.close();
});

test('a connection that cannot be opened, or that tells an error, is opened again, and there are never two', async () => {
  let [connected, tries] = [0, 0];
  const opened: (EventEmitter & Connection)[] = [];
  const open = async (): Promise<Connection> => {
    if (++tries <= 2) throw new Error('refused');
    expect(++connected, 'connections at a time').toBe(1);
    const events: EventEmitter = new EventEmitter();
    events.once('close', () => connected--);
    const connection = Object.assign(events, { close: () => void events.emit('close') });
    opened.push(connection as EventEmitter & Connection);
    return connection as Connection;
  };
  const stop = new AbortController();
  const running = instances.map((locks) => keepConnected(locks, open, stop.signal));
  await breaksAndIsOpenedAgain(opened);
  stop.abort();
  await Promise.all(running);
  expect([connected, tries]).toEqual([0, 4]);
});

test('one instance is connected at a time, the next one when the last is closed, and again after a break', async () => {
  let connected = 0;
  const opened: Connection[] = [];
  const open = async (): Promise<Connection> => {
    expect(++connected, 'connections at a time').toBe(1);
    const events = new EventEmitter<{ close: [] }>();
    const close = (): void => {
      setImmediate(() => {
        connected--;
        events.emit('close');
      });
    };
    opened.push(Object.assign(events, { close }));
    return opened.at(-1)!;
  };
  const stops = instances.map(() => new AbortController());
  const running = instances.map((locks, n) => keepConnected(locks, open, stops[n]!.signal));
  await until('one is connected', () => opened.length === 1);
  opened[0]!.close(); // the other side ends it
  await until('it is connected again', () => opened.length === 2);
  for (const stop of stops) stop.abort();
  await Promise.all(running);
  expect(connected).toBe(0);
});

test('replicas that start together migrate once, and none goes on before', async () => {
  const db = new DatabaseSync(':memory:');
  db.exec(STEPS);
  const steps = ['a', 'b', 'c'].map((name) => ({ name, sql: `CREATE TABLE ${name} (x)` }));
  const done = await Promise.all(instances.map((locks) => migrate(locks, db, steps)));
  expect(done.sort()).toEqual([0, 0, 3]);
  db.close();
});

test('a migration that fails leaves whole steps and a usable connection; mended, it goes on from there', async () => {
  const db = new DatabaseSync(':memory:');
  db.exec(STEPS);
  const steps = (second: string) => [
    { name: 'a', sql: 'CREATE TABLE a (x)' },
    { name: 'b', sql: `CREATE TABLE b (x); ${second}` },
    { name: 'c', sql: 'CREATE TABLE c (x)' },
  ];
  const failed = await Promise.allSettled(instances.map((locks) => migrate(locks, db, steps('CREATE TABLE a (y)'))));
  expect(failed.map((result) => result.status === 'rejected' && result.reason.message)).toEqual(
    Array(3).fill('table a already exists'),
  );
  expect(db.prepare('SELECT name FROM steps').all(), 'steps that are done').toEqual([{ name: 'a' }]);
  expect(await migrate(instances[0], db, steps('CREATE TABLE d (y)'))).toBe(2);
  db.close();
});

test('of twenty deliveries of a message one does the slow step, also after the first one failed at it', async () => {
  const db = new DatabaseSync(':memory:');
  db.exec(SCHEMA);
  const payment = { id: 'p1', amount: 5 };
  let [steps, inside, most] = [0, 0, 0];
  const receipt = async (): Promise<void> => {
    most = Math.max(most, ++inside);
    await pass(2);
    inside--;
    if (++steps === 1) throw new Error('the bank does not answer');
  };
  const deliver = () =>
    Promise.allSettled(Array.from({ length: 20 }, (_, i) => onMessage(instances[i % 3]!, db, payment, receipt)));
  const delivered = await deliver();
  const booked = delivered.filter((result) => result.status === 'fulfilled' && result.value);
  const failed = delivered.flatMap((result) => (result.status === 'rejected' ? [result.reason.message] : []));
  expect([steps, most, booked.length], 'slow steps, at a time, bookings').toEqual([2, 1, 1]);
  expect(failed, 'only the delivery whose own step failed is to come again').toEqual(['the bank does not answer']);
  await deliver();
  expect(steps, 'a message that was handled costs no slow step').toBe(2);
  expect(db.prepare('SELECT total FROM balance').get()).toEqual({ total: 5 });
  db.close();
});

test('a message whose worker died after its work and before its booking is booked once', async () => {
  const db = new DatabaseSync(':memory:');
  db.exec(SCHEMA);
  const payment = { id: 'p1', amount: 5 };
  // The first worker stands still inside its lock, loses it, and goes on when the second one is done.
  const standstill = Promise.withResolvers<void>();
  const inside = Promise.withResolvers<void>();
  const late = onMessage(instances[0], db, payment, async () => {
    inside.resolve();
    await standstill.promise;
  });
  await inside.promise;
  await instances[2].forceRelease('payment:p1', { reason: 'its worker stands still' });
  expect(await onMessage(instances[1], db, payment, async () => {})).toBe(true);
  standstill.resolve();
  expect(await late, 'the late worker finds it booked').toBe(false);
  expect(book(db, payment)).toBe(false);
  expect(db.prepare('SELECT total FROM balance').get()).toEqual({ total: 5 });
  db.close();
});

test('each site is crawled by one worker', async () => {
  const busy = new Map<string, number>();
  const site = (host: string) => {
    let pages = 3;
    return {
      host,
      async next(): Promise<boolean> {
        busy.set(host, (busy.get(host) ?? 0) + 1);
        expect(busy.get(host), `crawlers at ${host}`).toBe(1);
        await pass(2);
        busy.set(host, busy.get(host)! - 1);
        return --pages > 0;
      },
    };
  };
  const sites = ['a', 'b', 'c'].map(site);
  const crawled = await Promise.all(instances.map((locks) => crawl(locks, sites)));
  expect(new Set(crawled.flat())).toEqual(new Set(['a', 'b', 'c']));
});

test('a site that fails stops neither its worker nor the next try, and each page is fetched once', async () => {
  const fetched: string[] = [];
  let failing = true;
  const sites = ['a', 'b', 'c'].map((host) => {
    let pages = 3;
    const next = async (): Promise<boolean> => {
      await pass(1);
      if (host === 'b' && failing) throw new Error('b is away');
      if (pages === 0) return false;
      fetched.push(`${host}${pages--}`);
      return true;
    };
    return { host, next };
  });
  const warned: unknown[] = [];
  const all = () => Promise.all(instances.map((locks) => crawl(locks, sites, (error) => void warned.push(error))));
  await all();
  expect(new Set(fetched.map(([host]) => host))).toEqual(new Set(['a', 'c']));
  expect(warned.length).toBeGreaterThan(0);
  failing = false;
  await all();
  expect([fetched.length, new Set(fetched).size]).toEqual([9, 9]);
});

test('a partner is called by three at a time', async () => {
  let [inside, most] = [0, 0];
  const call = async (): Promise<void> => {
    most = Math.max(most, ++inside);
    await pass(3);
    inside--;
  };
  await Promise.all(Array.from({ length: 12 }, (_, i) => callPartner(instances[i % 3]!, call)));
  expect(most).toBe(3);
});

test('three calls that hang give their permits up, and are told before', async () => {
  const clock = manualClock();
  await using locks = createLocks(memory({ clock }), { clock });
  let told = 0;
  const hung = Array.from({ length: 3 }, () =>
    callPartner(locks, (signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(++told)))),
  );
  const ended = Promise.allSettled(hung);
  await clock.advance(2_900);
  const next = callPartner(locks, async () => told);
  await clock.advance(2_000);
  expect(await next, 'hung calls that were told before the next one began').toBe(3);
  await ended;
});

test('another service refuses who has lost the lock, by the token', async () => {
  const stock = new StockService();
  const [stale, fresh, operator] = instances;
  expect(await sell(fresh, stock, async () => {})).toBe(9);
  const late = sell(stale, stock, async () => {
    await operator.forceRelease('stock:p1', { reason: 'it hangs' });
    expect(await sell(fresh, stock, async () => {})).toBe(8);
  });
  await expect(late).rejects.toMatchObject({ code: 'LOCK_FENCED' });
  expect(await sell(fresh, stock, async () => {})).toBe(7);
});
