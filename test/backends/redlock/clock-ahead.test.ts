import { expect, test } from 'vitest';
import { redlock } from '../../../src/backends/redlock/index.ts';
import { createLocks } from '../../../src/index.ts';
import { startRedis } from '../../kit/redis.ts';
import { steppedClock } from '../../kit/stepped-clock.ts';
import { describeOn } from '../../kit/suite.ts';
import { Fleet } from '../redis/fleet.ts';

const DAY_MS = 86_400_000;

describeOn(['redlock', 'preload'], 'redlock, one of whose nodes has a clock that is a day ahead', () => {
  test.each([
    3, 5,
  ])('%i nodes: tokens of all keys follow the clocks of the others, and idle keys are forgotten', async (count) => {
    await using stack = new AsyncDisposableStack();
    using clock = await steppedClock();
    clock.step(DAY_MS);
    const ahead = stack.use(await clock.under(() => startRedis()));
    const others = await Promise.all(Array.from({ length: count - 1 }, () => startRedis()));
    const fleets = [ahead, ...others.map((server) => stack.use(server))].map(({ port }) => stack.use(new Fleet(port)));
    const locks = stack.use(createLocks(redlock(fleets.map((fleet) => fleet.ioredis()))));
    for (let turn = 0; turn < 20; turn++) {
      const key = `order ${turn}`;
      const lease = await locks.mutex(key).acquire();
      expect(Number(lease.token! / 1_000n) - Date.now(), `ms by which the token of ${key} is ahead`).toBeLessThan(
        60_000,
      );
      await lease.release();
      for (const fleet of fleets.slice(1))
        expect(await fleet.ioredis().pttl(`holdfast:{${key}}`), `ms for which ${key} is kept`).toBeLessThan(DAY_MS / 2);
    }
  });
});
