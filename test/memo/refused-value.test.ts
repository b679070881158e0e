/** What a server does to a result that has no room for it, or has something else there. */
import { expect, test } from 'vitest';
import { createLocks, isLockError } from '../../src/index.ts';
import { Fleet } from '../backends/redis/fleet.ts';
import { startRedis } from '../kit/redis.ts';
import { describeOn } from '../kit/suite.ts';
import { settleWithin } from '../kit/wait.ts';

describeOn('redis', 'memos on a Redis that refuses their words', () => {
  test('without memory, a runner whose result is refused has it at once, and is told why nobody else has', async () => {
    await using server = await startRedis({ 'maxmemory-policy': 'noeviction' });
    await using fleet = new Fleet(server.port);
    await using locks = createLocks(await fleet.backend());
    const client = fleet.ioredis();
    const memo = locks.memo<string>('key', { keep: '1h', ttl: '20s' });
    const run = memo.run(async () => {
      await client.config('SET', 'maxmemory', '1');
      return 'the result';
    });
    const result = await settleWithin('the result', run, 3_000);
    expect(result).toMatchObject({ value: 'the result', ran: true, kept: false });
    expect(isLockError(result.error, 'LOCK_UNAVAILABLE'), String(result.error)).toBe(true);
    await client.config('SET', 'maxmemory', '0');
    expect(
      await settleWithin(
        'the next run',
        memo.run(() => 'another'),
        3_000,
      ),
    ).toMatchObject({ ran: true, kept: true });
  });

  test('what has another format is never overwritten, and the error says what to do', async () => {
    await using server = await startRedis();
    await using fleet = new Fleet(server.port);
    await using locks = createLocks(await fleet.backend());
    const client = fleet.ioredis();
    const memo = locks.memo('key', { keep: '1h' });
    await memo.run(() => 'the result');
    const words = (await client.keys('*')).filter((key) => key.endsWith(':value'));
    expect(words).toHaveLength(1);
    await client.set(words[0]!, '9 of a later version');
    const again = memo.run(() => 'another');
    await expect(again).rejects.toMatchObject({
      code: 'LOCK_INVALID',
      message: expect.stringMatching(/newest holdfast everywhere, or forget\(\) the key/),
    });
    await expect(memo.peek()).rejects.toMatchObject({ code: 'LOCK_INVALID' });
    expect(await client.get(words[0]!)).toBe('9 of a later version');
    await memo.forget();
    expect(await memo.run(() => 'another')).toMatchObject({ ran: true, kept: true });
  });
});
