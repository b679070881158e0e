/** By which clock a result that a memo has kept is over, and a key is forgotten. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Clock, systemClock } from '../../../src/core/contract/clock.ts';
import { createLocks, type Locks } from '../../../src/index.ts';
import { startRedis } from '../../kit/redis.ts';
import { type SteppedClock, steppedClock } from '../../kit/stepped-clock.ts';
import { describeOn } from '../../kit/suite.ts';
import { Fleet } from './fleet.ts';
import { granted, wish } from './scene.ts';

const KEPT = { keep: '1h' } as const;
const again = (): string => 'ran again';

/** A clock of the machine that goes ahead of it when told so. */
class AheadClock implements Clock {
  ahead = 0;
  now = (): number => systemClock.now() + this.ahead;
  resync = (): number => systemClock.resync() + this.ahead;
  after = systemClock.after;
  random = systemClock.random;
  id = systemClock.id;
}

describeOn('redis', 'a kept result, by the clock of this process', () => {
  const stack = new AsyncDisposableStack();
  let fleet: Fleet;
  afterAll(() => stack.disposeAsync());
  beforeAll(async () => {
    const { port } = stack.use(await startRedis());
    fleet = stack.use(new Fleet(port));
  });

  test('is told by an estimate of the server’s clock for ten seconds, and then that clock is asked, once', async () => {
    const clock = new AheadClock();
    await using reader = createLocks(await fleet.backend('ioredis', { clock }));
    const client = fleet.ioredis();
    const scripts = async (): Promise<number> =>
      Number(/cmdstat_evalsha:calls=(\d+)/.exec(await client.info('commandstats'))![1]);
    const memo = reader.memo<string>('drift', KEPT);
    const { at } = await memo.run(() => 'kept');
    const before = await scripts();
    clock.ahead += 9_000;
    expect((await memo.run(again)).value).toBe('kept');
    expect((await scripts()) - before, 'after 9 s').toBe(0);
    clock.ahead += 2_000;
    const hit = await memo.run(again);
    expect((await scripts()) - before, 'after 11 s').toBe(1);
    expect(Math.abs(hit.at.getTime() - at.getTime()), 'ms').toBeLessThan(100);
    expect((await memo.run(again)).value).toBe('kept');
    expect((await scripts()) - before, 'after that').toBe(1);
  });
});

describeOn(['redis', 'preload'], 'a kept result, when the clock of the server is set', () => {
  const stack = new AsyncDisposableStack();
  let clock: SteppedClock;
  let locks: Locks;
  let reader: Locks;

  beforeAll(async () => {
    clock = stack.use(await steppedClock());
    const { port } = stack.use(await clock.under(() => startRedis()));
    const fleet = stack.use(new Fleet(port));
    [locks, reader] = [createLocks(await fleet.backend(), { ttl: '1m' }), createLocks(await fleet.backend())];
    for (const each of [locks, reader]) stack.defer(() => each.close());
    for (const each of [locks, reader]) await each.memo('warm', KEPT).run(() => 1);
  });
  afterAll(() => stack.disposeAsync());

  test('is not served when it is over by that clock, and the estimate is of before', async () => {
    await locks.memo('over', { keep: '20s' }).run(() => 'old');
    expect((await reader.memo('over', { keep: '20s' }).run(again)).value).toBe('old');
    clock.step(21_000);
    expect(await reader.memo('over', { keep: '20s' }).run(again)).toMatchObject({ value: 'ran again', ran: true });
  });

  test('is not served when it is over by that clock, while a refresh of it is counted for longer', async () => {
    const options = { keep: '20s', refresh: '5s', attempts: 3 } as const;
    await locks.memo('refreshed', options).run(() => 'old');
    clock.step(6_000);
    await locks.memo('warm').run(() => 1); // the runner learns of it
    const work = Promise.withResolvers<string>();
    const begins = Promise.withResolvers<void>();
    const running = locks.memo<string>('refreshed', options).run(() => {
      begins.resolve();
      return work.promise;
    });
    await begins.promise;
    const memo = reader.memo<string>('refreshed', { ...options, refresh: undefined });
    expect((await memo.run(again)).value, 'while it is running').toBe('old');
    clock.step(15_000);
    await expect(memo.run(again, { wait: 0 })).rejects.toMatchObject({ code: 'LOCK_TIMEOUT' });
    work.resolve('new');
    expect(await running).toMatchObject({ value: 'new', ran: true });
    expect(await memo.run(again)).toMatchObject({ value: 'new', ran: false });
  });

  test('is served as long as it is there by that clock, also when that was set back', async () => {
    await locks.memo('back', { keep: '2m' }).run(() => 'old');
    expect((await reader.memo('back', { keep: '2m' }).run(again)).value).toBe('old');
    clock.step(-60_000);
    expect(await reader.memo('back', { keep: '2m' }).run(again)).toMatchObject({ value: 'old', ran: false });
  });

  test('with a keep below a minute is not served when that clock was set back: nobody knows its age', async () => {
    await locks.memo('brief', { keep: '20s' }).run(() => 'old');
    expect((await reader.memo('brief', { keep: '20s' }).run(again)).value).toBe('old');
    clock.step(-60_000);
    expect(await reader.memo('brief', { keep: '20s' }).run(again)).toMatchObject({ ran: true });
  });
});

describeOn(['redis', 'preload'], 'the last token of a key, when the clock of the server is set back', () => {
  test.each(['before the release', 'before a renewal'])('stays until that clock has passed it: %s', async (moment) => {
    const TEN_MINUTES = 600_000;
    using clock = await steppedClock();
    await using server = await clock.under(() => startRedis());
    await using fleet = new Fleet(server.port);
    const backend = await fleet.backend();
    const claim = wish('back');
    granted(await backend.attempt(claim));
    clock.step(-TEN_MINUTES);
    if (moment === 'before a renewal') await backend.renew([claim]);
    await backend.release(claim);
    expect(await fleet.ioredis().pttl('holdfast:{back}'), 'ms').toBeGreaterThan(TEN_MINUTES);
  });
});
