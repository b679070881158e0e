import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { lockOf } from '../../../src/backends/redis/server.ts';
import { askRedis } from '../../kit/redis.ts';
import { describeOn } from '../../kit/suite.ts';
import { granted, wish } from './scene.ts';
import { sharedFleet } from './shared-fleet.ts';
import { expiryOf } from './version.ts';

const REMEMBER = 60_000;

describeOn('redis', 'a renewal of a hold that is alone', () => {
  const here = sharedFleet();

  const vanishesAt = (key: string): Promise<number> => expiryOf(here.fleet.ioredis(), lockOf('holdfast', key));
  async function scriptsDuring(act: () => Promise<unknown>): Promise<number> {
    await askRedis(here.server.port, 'CONFIG RESETSTAT');
    await act();
    return Number(/cmdstat_evalsha:calls=(\d+)/.exec(await askRedis(here.server.port, 'INFO commandstats'))?.[1]);
  }

  test('keeps its key for longer each time, however old its token is', async () => {
    const backend = await here.fleet.backend('ioredis', { remember: REMEMBER });
    const claim = wish('old');
    granted(await backend.attempt(claim));
    const first = await vanishesAt('old');
    await sleep(300);
    await backend.renew([claim]);
    expect(await vanishesAt('old')).toBeGreaterThanOrEqual(first + 300);
  });

  test('keeps its key until the last token that it reserved ahead of the clock has passed', async () => {
    const backend = await here.fleet.backend('ioredis', { remember: REMEMBER });
    const ahead = 600_000_000n;
    const claim = wish('ahead', { tokenCount: 1_000, minToken: BigInt(Date.now()) * 1_000n + ahead });
    const { token } = granted(await backend.attempt(claim));
    await backend.renew([claim]);
    const last = Number(token) + claim.tokenCount;
    expect(await vanishesAt('ahead')).toBe(Math.ceil(last / 1_000) + claim.ttl + REMEMBER);
  });

  test('with another ttl is one message, and the ttl is kept', async () => {
    const backend = await here.fleet.backend();
    const claim = wish('longer', { ttl: 5_000 });
    granted(await backend.attempt(claim));
    expect(await scriptsDuring(() => backend.renew([{ ...claim, ttl: 90_000 }]))).toBe(1);
    expect((await here.fleet.ioredis().get(lockOf('holdfast', 'longer')))?.split(' ')).toContain('90000');
  });

  test('that the server refuses is unknown, and the others are renewed', async () => {
    const backend = await here.fleet.backend();
    const [kept, other] = [wish('kept'), wish('other')];
    for (const claim of [kept, other]) granted(await backend.attempt(claim));
    await here.fleet.ioredis().set(lockOf('holdfast', 'other'), 'something of somebody else');
    expect(await backend.renew([kept, other])).toEqual([{ validFor: kept.ttl }, 'unknown']);
  });
});
