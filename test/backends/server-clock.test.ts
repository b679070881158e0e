import { afterAll, beforeAll, expect, test } from 'vitest';
import { connect } from '../../src/connect/index.ts';
import { openBackend } from '../../src/connect/open.ts';
import { EXCLUSIVE } from '../../src/core/contract/admission.ts';
import type { Backend } from '../../src/core/contract/backend.ts';
import { systemClock } from '../../src/core/contract/clock.ts';
import type { Locks } from '../../src/index.ts';
import { startEtcd } from '../kit/etcd.ts';
import { startMariadb } from '../kit/mariadb.ts';
import { startMysql } from '../kit/mysql.ts';
import { startPostgres } from '../kit/postgres.ts';
import { startRedis, startRedisNodes } from '../kit/redis.ts';
import type { Part } from '../kit/selection.ts';
import { type SteppedClock, steppedClock } from '../kit/stepped-clock.ts';
import { describeOn } from '../kit/suite.ts';
import { until } from '../kit/wait.ts';
import { startZookeeper } from '../kit/zookeeper.ts';

interface Engine {
  readonly part: Part | readonly Part[];
  start(): Promise<{ readonly url: string } & AsyncDisposable>;
  readonly query?: string;
  /** Leases go by a clock that can be set, and not by one that counts from the start of the machine. */
  readonly settable: boolean;
  /** Holds expire while their process lives. */
  readonly expires?: false;
  /** It has words, whose age goes by that clock. */
  readonly words?: true;
}

const ENGINES: Readonly<Record<string, Engine>> = {
  Redis: { part: 'redis', start: () => startRedis(), settable: true, words: true },
  Redlock: { part: 'redlock', start: () => startRedisNodes(3), settable: true },
  PostgreSQL: { part: 'postgres', start: () => startPostgres(), settable: true, words: true },
  MariaDB: { part: 'mysql', start: () => startMariadb(), settable: true, words: true },
  MySQL: { part: ['mysql', 'mysqld'], start: () => startMysql(), settable: true, words: true },
  etcd: { part: 'etcd', start: () => startEtcd(), settable: false },
  ZooKeeper: {
    part: 'zookeeper',
    start: () => startZookeeper(),
    query: '?sessionTimeout=4s',
    settable: false,
    expires: false,
  },
};
/** ms. */
const TEN_MINUTES = 600_000;
const STEPS = [50, 200, 5_000, TEN_MINUTES];
const TTL = 30_000;

for (const [name, { part, start, query = '', settable, expires, words }] of Object.entries(ENGINES)) {
  describeOn([part, 'preload'].flat() as Part[], `${name}, when the clock of its server is set`, () => {
    const stack = new AsyncDisposableStack();
    let clock: SteppedClock;
    let one: Locks;
    let other: Locks;
    /** Says nothing by itself. */
    let silent: Backend;

    beforeAll(async () => {
      clock = stack.use(await steppedClock());
      const { url } = stack.use(await clock.under(start));
      [one, other] = [stack.use(await connect(url + query)), stack.use(await connect(url + query))];
      silent = stack.adopt(await openBackend(url + query), (backend) => backend.close());
    }, 60_000);
    afterAll(() => stack.disposeAsync());

    const taken = (key: string) => one.mutex(key, { ttl: TTL, renew: false }).acquire({ wait: 10_000 });
    const waiterOf = async (key: string) => {
      const waiting = other.mutex(key, { ttl: TTL }).acquire({ wait: 20_000 });
      waiting.catch(() => {}); // it is awaited later
      await until('it has asked', async () => (await other.mutex(key).tryAcquire()) === null);
      return { waiting };
    };
    const holderOf = async (key: string): Promise<bigint | undefined> => {
      for await (const { held, token } of one.inspect(key, { exact: true })) if (held) return token;
      return undefined;
    };

    test.each(
      STEPS.flatMap((ms) => (ms === TEN_MINUTES ? [-ms] : [-ms, ms])),
    )('by %d ms, nobody is in beside the holder, its extension is the truth, and who waits is the next', async (ms) => {
      const key = `by ${ms}`;
      const lease = await taken(key);
      const { waiting } = await waiterOf(key);
      clock.step(ms);
      expect(await other.mutex(key).tryAcquire(), 'for another').toBeNull();
      await lease.extend(TTL);
      expect(lease.held).toBe(true);
      expect(await holderOf(key), 'who holds it on the server').toBe(lease.token);
      await lease.release();
      const next = await waiting;
      expect(next.token).toBeGreaterThan(lease.token);
      await next.release();
    }, 30_000);

    test.skipIf(expires === false)(
      'back, nobody is in before the lease of who fell silent is over',
      async () => {
        const claim = {
          key: 'silent',
          id: systemClock.id(),
          ttl: 1_500,
          queue: false,
          tokenCount: 1,
          within: 5_000,
          label: '',
        };
        const sent = performance.now();
        expect(await silent.attempt({ ...EXCLUSIVE, ...claim })).toMatchObject({ granted: true });
        const { waiting } = await waiterOf('silent');
        for (const ms of [-50, -200]) clock.step(ms);
        const next = await waiting;
        expect(performance.now() - sent, 'ms from the request of the lease').toBeGreaterThanOrEqual(claim.ttl);
        await next.release();
      },
      30_000,
    );

    test.runIf(words)(
      'back, a result is had by those who take any, and by nobody who asks how old it is',
      async () => {
        const claimOf = (age: number) => {
          const how = { id: systemClock.id(), ttl: TTL, queue: false, tokenCount: 1, within: 5_000, label: '' };
          return { ...EXCLUSIVE, ...how, key: 'left', accepts: { age, mark: '-', counts: 0 } };
        };
        const holder = claimOf(-1);
        await silent.attempt(holder);
        expect(await silent.store!(holder, { text: 'said', ttl: 3 * TEN_MINUTES })).toBe(true);
        clock.step(-TEN_MINUTES);
        expect(await silent.attempt(claimOf(Number.POSITIVE_INFINITY))).toMatchObject({ value: { text: 'said' } });
        const asks = claimOf(TEN_MINUTES);
        expect(await silent.attempt(asks)).toMatchObject({ granted: true });
        await silent.release(asks);
      },
      30_000,
    );

    test(`forward by ten minutes, ${settable ? 'the lease is over, and only the token tells the next from the holder' : 'nothing is over'}`, async () => {
      const lease = await taken('forward');
      const { waiting } = await waiterOf('forward');
      clock.step(TEN_MINUTES);
      if (settable) {
        const next = await waiting;
        expect(next.token, 'by which the resource refuses the holder').toBeGreaterThan(lease.token);
        await expect(lease.extend(TTL)).rejects.toMatchObject({ code: 'LOCK_LOST' });
        expect(lease.held).toBe(false);
        clock.step(-TEN_MINUTES);
        await next.extend(TTL);
        expect(await holderOf('forward')).toBe(next.token);
        await next.release();
        const last = await taken('forward');
        expect(last.token, 'after it was set back again').toBeGreaterThan(next.token);
        await last.release();
      } else {
        await lease.extend(TTL);
        expect(await holderOf('forward')).toBe(lease.token);
        await lease.release();
        await (await waiting).release();
      }
    }, 30_000);
  });
}
