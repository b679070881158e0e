import type { Pool } from 'mysql2/promise';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type MysqlBackend, mysql } from '../../../src/backends/mysql/index.ts';
import * as sql from '../../../src/backends/mysql/sql.generated.ts';
import { describeOnMysql, type MysqlKind } from '../../kit/mysql-kinds.ts';
import { type FaultProxy, startProxy } from '../../kit/proxy.ts';
import { type SteppedClock, steppedClock } from '../../kit/stepped-clock.ts';
import { until } from '../../kit/wait.ts';
import { claimOf } from './claims.ts';
import { Rows, seconds } from './rows.ts';
import { Host } from './server.ts';

/** ms. */
const BACK = [50, 200, 5_000, 600_000];
const TEN_MINUTES = 600_000;
const HOUR = 3_600_000;

describeOnMysql('mysql, while the clock of its server is set', whileSet, ['preload']);

function whileSet(kind: MysqlKind): void {
  const host = new Host();
  let clock: SteppedClock;
  let rows: Rows;
  let admin: Rows;
  let link: FaultProxy;
  let pool: Pool;
  let one: MysqlBackend;
  let other: MysqlBackend;
  let keys = 0;
  let key: string;

  beforeAll(async () => {
    clock = await steppedClock();
    await clock.under(() => host.start(kind));
    [rows, admin] = [await Rows.of(host, 'holdfast_lines'), await Rows.of(host, 'other', 1)];
    // One session each, on which every statement is prepared after its first use: a statement that is only prepared has not begun.
    link = await startProxy(host.server.port);
    pool = host.pool({ connectionLimit: 1, port: link.port });
    const options = { sweep: 0, idle: 0 };
    [one, other] = [mysql(pool, options), mysql(host.pool({ connectionLimit: 1 }), options)];
    for (const backend of [one, other]) {
      const [claim, next] = [claimOf('prepared'), claimOf('prepared')];
      await backend.attempt(claim);
      for (let i = 0; i < 2; i++) await backend.attempt(next);
      await backend.renew([claim]);
      await backend.release(claim);
      await backend.release(next, claimOf('prepared', { ttl: 20 }));
      await backend.sweep();
    }
  }, 60_000);
  afterAll(async () => {
    await Promise.all([one?.close(), other?.close()]);
    await host.close();
    await link?.[Symbol.asyncDispose]();
    clock?.[Symbol.dispose]();
  });
  beforeEach(() => {
    key = `key ${++keys}`;
  });

  /** Sets the clock while the first statement of `act` on the table has begun, and waits for the table. @param then what happens before it goes on */
  async function during<T>(
    ms: number,
    act: () => Promise<T>,
    then = async (): Promise<unknown> => undefined,
  ): Promise<T> {
    await admin.query('LOCK TABLES holdfast_lines WRITE');
    try {
      const done = act();
      const waiting = "SELECT COUNT(*) AS n FROM information_schema.PROCESSLIST WHERE State LIKE 'Waiting for table%'";
      await until('a statement waits for the table', async () => Number((await rows.query(waiting))[0]!.n) === 1);
      clock.step(ms);
      await then();
      await admin.query('UNLOCK TABLES');
      return await done;
    } finally {
      await admin.query('UNLOCK TABLES');
    }
  }

  const granted = async (backend: MysqlBackend, claim = claimOf(key)) => {
    expect(await backend.attempt(claim)).toMatchObject({ granted: true });
    return claim;
  };
  const waits = async (backend: MysqlBackend, claim = claimOf(key)) => {
    expect(await backend.attempt(claim), 'of another').toMatchObject({ granted: false });
    return claim;
  };
  /** µs for which the first claim of the key is stored to hold, by the clock of the server. */
  const left = async (): Promise<number> => {
    const { queue } = (await rows.all())[`holdfast/${key}`]!;
    return Number(queue.split(' ')[1]) - clock.now() * 1_000;
  };

  test.each(
    BACK,
  )('set back by %d ms during a sweep or the look of a waiter, nobody is in beside the holder', async (ms) => {
    const claim = await granted(other);
    // Its first statement only counts rows. The second one is on its way when the table is taken.
    const counted = new Promise((done) => pool.once('release', done)).then(() => link.stall('up'));
    const swept = one.sweep();
    await counted;
    await during(-ms, async () => {
      await link.pass();
      return swept;
    });
    const waiter = await waits(one, claimOf(key, { within: HOUR }));
    expect(await during(-ms, () => one.attempt(waiter)), 'of the waiter').toMatchObject({ granted: false });
    expect(await other.renew([claim])).toEqual([{ validFor: claim.ttl }]);
  });

  test.each(BACK)('set back by %d ms during a renewal, the answer is the truth', async (ms) => {
    const claim = { ...(await granted(one, claimOf(key, { ttl: 5_000 }))), ttl: 30_000 };
    expect(await during(-ms, () => one.renew([claim]))).toEqual([{ validFor: 30_000 }]);
    expect(await left(), 'µs of the lease').toBeGreaterThan(seconds(29));
    await waits(other);
  });

  test.each(BACK)('set back by %d ms during a grant or a hand-over, the lease is not shorter', async (ms) => {
    await one.release(await granted(one));
    const claim = await during(-ms, () => granted(one));
    expect(await left(), 'µs after the grant').toBeGreaterThan(seconds(29));
    const handed = await during(-ms, () => one.release(claim, claimOf(key)));
    expect(handed).toMatchObject({ freed: true, next: { granted: true } });
    expect(await left(), 'µs after the hand-over').toBeGreaterThan(seconds(29));
    await waits(other);
  });

  test('what is renewed when it was set back has not expired for a look that had begun before', async () => {
    const claim = await granted(one);
    const waiter = await waits(other, claimOf(key, { within: HOUR }));
    const renewed = async (): Promise<void> => {
      const now = Math.round(clock.now() * 1_000) + seconds(30);
      await admin.query(
        `UPDATE holdfast_lines SET queue = INSERT(queue, LOCATE(' ', queue) + 1, 16, ${now}) WHERE name <> ''`,
      );
    };
    expect(await during(-TEN_MINUTES, () => other.attempt(waiter), renewed)).toMatchObject({ granted: false });
    expect(await one.renew([claim])).toEqual([{ validFor: claim.ttl }]);
  });

  test('set forward around a renewal and back after it, a hold that counts as gone is gone for all', async () => {
    const claim = await granted(one);
    clock.step(TEN_MINUTES);
    expect(await one.renew([claim])).toEqual(['gone']);
    clock.step(-TEN_MINUTES);
    expect(await one.renew([claim]), 'with the old time').toEqual(['gone']);
    await granted(other);
  });

  test('set forward for the first statement of a renewal and back for the next, a hold counts as renewed that was', async () => {
    const claim = { ...(await granted(one)), ttl: 60_000 };
    const { promise: stalled, resolve } = Promise.withResolvers<void>();
    const stall = async (): Promise<void> => resolve(link.stall('down'));
    const renewal = during(TEN_MINUTES, () => one.renew([claim]), stall);
    await stalled;
    const running = "SELECT COUNT(*) AS n FROM information_schema.PROCESSLIST WHERE INFO LIKE '%holdfast_lines%'";
    await until('the statement came too late', async () => Number((await rows.query(running))[0]!.n) === 1);
    clock.step(-TEN_MINUTES);
    await link.pass();
    expect(await renewal).toEqual([{ validFor: claim.ttl }]);
    expect(await left(), 'µs of the lease').toBeGreaterThan(seconds(59));
  });

  test('sweeps go on, though the last one is still to come', async () => {
    const turn = async () => (await rows.write(sql.turn, { interval: `${seconds(300)}` })).affectedRows;
    await turn();
    expect(await turn(), 'right after a turn').toBe(0);
    clock.step(-TEN_MINUTES);
    expect(await turn(), 'ten minutes before the last one').toBe(1);
    expect(await turn(), 'right after that').toBe(0);
  });
}
