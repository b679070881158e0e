/** A caller that finds the server away waits for it, as the caller of a lock does. */
import { expect, test } from 'vitest';
import { redis } from '../../src/backends/redis/index.ts';
import { createLocks } from '../../src/index.ts';
import { Fleet } from '../backends/redis/fleet.ts';
import { startRedis } from '../kit/redis.ts';
import { describeOn } from '../kit/suite.ts';
import { settleWithin } from '../kit/wait.ts';

describeOn('redis', 'memos on a Redis that is restarted', () => {
  test('a caller that comes while the server is away has its result when the server is back', async () => {
    await using server = await startRedis();
    await using fleet = new Fleet(server.port);
    const client = fleet.ioredis({ enableOfflineQueue: false, retryStrategy: () => 50 });
    await using locks = createLocks(redis(client));
    await client.ping().catch(() => {});
    await settleWithin(
      'the first run',
      locks.memo('key', { keep: '1h' }).run(() => 1),
      5_000,
    );
    const back = server.restart();
    while (client.status === 'ready') await new Promise(setImmediate);
    const calls = [1, 2].map((n) => locks.memo<number>(`another ${n}`, { keep: '1h' }).run(() => n));
    const short = locks.memo<number>('short', { keep: '1h' }).run(() => 1, { wait: 30 });
    await expect(short, 'a wait that ends meanwhile').rejects.toMatchObject({
      code: 'LOCK_UNAVAILABLE',
      message: expect.stringContaining('did not answer within 30 ms'),
    });
    const lock = locks.mutex('lock').run(() => 'locked');
    await back;
    expect(await settleWithin('a lock', lock, 15_000)).toBe('locked');
    expect(await settleWithin('the results', Promise.all(calls), 15_000)).toMatchObject([{ value: 1 }, { value: 2 }]);
  });
});
