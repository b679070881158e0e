import pg from 'pg';
import postgresJs from 'postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PostgresBackend, postgres } from '../../../src/backends/postgres/index.ts';
import { IDLE_LOOK_MS } from '../../../src/backends/postgres/wake-ups.ts';
import type { Attempt, Grant } from '../../../src/core/contract/backend.ts';
import { type Clock, systemClock } from '../../../src/core/contract/clock.ts';
import { describeOn } from '../../kit/suite.ts';
import { until } from '../../kit/wait.ts';
import { claimOf, Database } from './database.ts';

/** Time in which the looks at whether any claim waits come quickly, and are counted. */
class QuickLooks implements Clock {
  looks = 0;
  readonly #clock = systemClock;
  now = (): number => this.#clock.now();
  resync = (): number => this.#clock.resync();
  random = (): number => this.#clock.random();
  id = (): string => this.#clock.id();
  after(ms: number, fn: () => void, background?: boolean): () => void {
    if (ms !== IDLE_LOOK_MS || !background) return this.#clock.after(ms, fn, background);
    const look = (): void => {
      this.looks++;
      fn();
    };
    return this.#clock.after(50, look, background);
  }
}

describeOn('postgres', 'who listens', () => {
  let database: Database;
  beforeAll(async () => {
    database = await Database.start();
  });
  afterAll(() => database[Symbol.asyncDispose]());

  /** A process that holds a key, and one that waits for it, whose sessions have a name. */
  async function scene(connect?: (name: string) => pg.Client) {
    const clock = new QuickLooks();
    const name = `waiter ${systemClock.id()}`;
    const config = { application_name: name };
    const holder = await database.open((pool) => postgres(pool));
    const waiter = await database.open(
      (pool) => postgres(pool, { clock, ...(connect && { connect: () => connect(name) }) }),
      config,
    );
    const sessions = async (): Promise<number> => {
      const listening = `SELECT FROM pg_stat_activity WHERE application_name LIKE $1 AND query !~ 'commit_|holdfast_meta'`;
      return (await database.sql(listening, [`${name}%`])).length;
    };
    return { clock, holder, waiter, sessions };
  }

  /** Waits for a key until it is handed over. */
  async function waits(waiter: PostgresBackend, key: string) {
    const claim = claimOf(key);
    const sent = systemClock.now();
    const refused = await waiter.attempt(claim);
    expect(refused.granted).toBe(false);
    const { promise: woken, resolve } = Promise.withResolvers<Grant | undefined>();
    const watch = await waiter.watch!(claim, resolve, systemClock.now() - sent);
    /** The grant that a message brought, or the answer to the attempt after a wake without one. */
    const granted = async (): Promise<Attempt> => (await woken) ?? (await waiter.attempt(claim));
    return { claim, granted, [Symbol.asyncDispose]: () => watch[Symbol.asyncDispose]() };
  }

  test('a process that waits for nothing listens to nothing after 30 s; while it waits, it does', async () => {
    const { clock, holder, waiter, sessions } = await scene();
    const key = systemClock.id();
    await holder.attempt(claimOf(key));
    const waiting = await waits(waiter, key);
    await until('it listens', async () => (await sessions()) === 1);
    const { looks } = clock;
    await until('it has waited for a minute', () => clock.looks > looks + 6);
    expect(await sessions()).toBe(1);
    await waiting[Symbol.asyncDispose]();
    await waiter.release(waiting.claim);
    await until('it listens to nothing', async () => (await sessions()) === 0);
    await holder.close();
    await waiter.close();
  });

  test('a key that is freed before the process listens again is noticed all the same', async () => {
    let gate = Promise.resolve();
    const { holder, waiter, sessions } = await scene((name) => {
      const client = new pg.Client({ connectionString: database.server.url, application_name: name });
      const connect = client.connect.bind(client);
      client.connect = (async () => gate.then(() => connect())) as typeof client.connect;
      return client;
    });
    for (const how of ['for the first time', 'again']) {
      const { promise, resolve } = Promise.withResolvers<void>();
      gate = promise;
      const key = `${how} ${systemClock.id()}`;
      const held = claimOf(key);
      await holder.attempt(held);
      await using waiting = await waits(waiter, key);
      await holder.release(held);
      resolve();
      expect(await waiting.granted(), how).toMatchObject({ granted: true });
      await waiting[Symbol.asyncDispose]();
      await waiter.release(waiting.claim);
      await until('it listens to nothing', async () => (await sessions()) === 0);
    }
    await holder.close();
    await waiter.close();
  });

  test('over postgres.js, too, and its next LISTEN notifies of a turn', async () => {
    const clock = new QuickLooks();
    await using clients = new AsyncDisposableStack();
    const sql = clients.adopt(postgresJs(database.server.url, { max: 2, onnotice: () => {} }), (own) => own.end());
    const holder = await database.open((pool) => postgres(pool));
    const waiter = clients.adopt(postgres(sql, { clock }), (backend) => backend.close());
    const last = async (how: string) =>
      (await database.sql('SELECT FROM pg_stat_activity WHERE query ILIKE $1', [`${how} "holdfast%`])).length;
    for (const how of ['for the first time', 'again']) {
      const key = `${how} ${systemClock.id()}`;
      const held = claimOf(key);
      await holder.attempt(held);
      await using waiting = await waits(waiter, key);
      await until('it listens', async () => (await last('listen')) === 1);
      await holder.release(held);
      expect(await waiting.granted(), how).toMatchObject({ granted: true });
      await waiting[Symbol.asyncDispose]();
      await waiter.release(waiting.claim);
      await until('it listens to nothing', async () => (await last('unlisten')) === 1);
    }
    await holder.close();
  });

  test('while no connection listens, waiters that ask do not dial before the pause is over', async () => {
    let dials = 0;
    let port = 1; // where nothing answers
    const { holder, waiter } = await scene((name) => {
      dials++;
      return new pg.Client({
        connectionString: database.server.url.replace(/:\d+\//, `:${port}/`),
        application_name: name,
      });
    });
    const key = systemClock.id();
    const held = claimOf(key);
    await holder.attempt(held);
    const waiting = await waits(waiter, key);
    await until('a try has failed', () => dials > 0);
    const began = systemClock.now();
    for (let asked = 0; asked < 200; asked++) await waiter.attempt(waiting.claim);
    // The pauses are at least 50, 100, 200, 400 ms and so on.
    expect(dials).toBeLessThanOrEqual(3 + Math.log2((systemClock.now() - began) / 50 + 1));
    ({ port } = database.server);
    await holder.release(held);
    await until('it listens, and is notified', async () => (await waiting.granted()).granted);
    await waiting[Symbol.asyncDispose]();
    await holder.close();
    await waiter.close();
  });

  test('check reports many sessions that listen, and how many', async () => {
    const backend = await database.open((pool) => postgres(pool));
    const found = async () => (await backend.check!()).find(({ code }) => code === 'listeners');
    expect(await found()).toBeUndefined();
    await using others = new AsyncDisposableStack();
    for (let n = 0; n < 60; n++) {
      const other = others.adopt(new pg.Client(database.server.url), (client) => client.end());
      await other.connect();
      await other.query('LISTEN something_else');
    }
    expect(await found()).toMatchObject({ severity: 'warning', message: expect.stringMatching(/\b6\d sessions/) });
    await backend.close();
  });
});
