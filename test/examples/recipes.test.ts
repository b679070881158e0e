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
import { type Statistic, statistic } from '../../examples/recipes/rebuild.ts';
import { onTick } from '../../examples/recipes/scheduled-job.ts';
import { memory } from '../../src/backends/memory.ts';
import type { Backend } from '../../src/core/backend.ts';
import { systemClock } from '../../src/core/clock.ts';
import { createLocks, type Locks } from '../../src/index.ts';
import { around } from '../../src/testing/around.ts';
import { until } from '../kit/wait.ts';

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

test('a job runs once per tick, also when it is done before the last instance asks', async () => {
  let runs = 0;
  const ticks: boolean[] = [];
  const due = Date.UTC(2026, 4, 4, 3);
  for (const now of [due + 20, due - 3, due + 900]) {
    await using locks = createLocks(around(engine, { close: async () => {} }), {
      clock: { ...systemClock, epoch: () => now },
    });
    ticks.push(await onTick(locks, now, async () => void runs++));
  }
  expect([ticks, runs]).toEqual([[true, false, false], 1]);
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

test('a message that comes again is booked once; workers that get it together do not both work', async () => {
  const db = new DatabaseSync(':memory:');
  db.exec(SCHEMA);
  const payment = { id: 'p1', amount: 5 };
  let [inside, most] = [0, 0];
  const receipt = async (): Promise<void> => {
    most = Math.max(most, ++inside);
    await pass(2);
    inside--;
  };
  const booked = await Promise.all(instances.map((locks) => onMessage(locks, db, payment, receipt)));
  // The one whose worker died before it could acknowledge, and which is delivered again.
  booked.push(book(db, payment));
  expect(booked.filter(Boolean)).toHaveLength(1);
  expect(most).toBe(1);
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

test('a statistic is built by one; the others show the old one, or wait for the new one', async () => {
  let [built, stored] = [0, undefined as Statistic | undefined];
  const store = {
    read: async () => stored,
    write: async (statistic: Statistic) => {
      stored = statistic;
    },
  };
  const build = async (): Promise<number> => {
    await pass(5);
    return ++built;
  };
  const first = await Promise.all(instances.map((locks) => statistic(locks, store, build)));
  expect(first.map(({ value }) => value)).toEqual([1, 1, 1]);
  stored = { ...stored!, builtAt: 0 };
  const second = await Promise.all(instances.map((locks) => statistic(locks, store, build)));
  expect(second.map(({ value }) => value).sort()).toEqual([1, 1, 2]);
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
