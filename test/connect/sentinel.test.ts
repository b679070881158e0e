import { expect, test } from 'vitest';
import { connect } from '../../src/connect/index.ts';
import { isLockError } from '../../src/index.ts';
import { askRedis, startRedisSentinel } from '../kit/redis.ts';
import { describeOn } from '../kit/suite.ts';
import { until } from '../kit/wait.ts';

describeOn('redis', 'redis+sentinel:, the primary lost', () => {
  // The driver asks the one that hangs for the primary; the others tell it of the new one meanwhile, at which it gives up.
  test('a sentinel that hangs during the fail-over does not end it', { timeout: 60_000 }, async () => {
    await using group = await startRedisSentinel();
    await using locks = await connect(group.url);
    await locks.mutex('before').run(() => {});
    const [asked, other] = group.sentinels;
    const [primary] = group.servers;
    asked!.pause();
    await primary!.kill();
    const named = async (): Promise<string> => askRedis(other!.port, `SENTINEL GET-MASTER-ADDR-BY-NAME ${group.name}`);
    await until('another is primary', async () => !(await named()).includes(`${primary!.port}`), 20_000);
    asked!.resume();
    let last: unknown;
    const served = async (): Promise<boolean> => {
      try {
        await locks.mutex('after').run(() => {}, { wait: 0 });
        return true;
      } catch (error) {
        expect(isLockError(error, 'LOCK_UNAVAILABLE'), `${error}`).toBe(true);
        last = error;
        return false;
      }
    };
    await until('a lock is granted again', served, 20_000).catch((cause) => {
      throw new Error(`not granted again: ${last}`, { cause });
    });
  });
});
