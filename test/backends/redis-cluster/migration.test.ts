import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { slotOf } from '../../../src/backends/redis/port.ts';
import { createLocks, isLockError, type Lease, type Locks } from '../../../src/index.ts';
import { describeOn } from '../../kit/suite.ts';
import { LIBRARIES } from '../redis/fleet.ts';
import { keysAt } from './keys.ts';
import { move } from './move.ts';
import { sharedCluster } from './site.ts';

describeOn('redis', 'redis-cluster, a slot moved', () => {
  const site = sharedCluster();

  for (const [at, library] of LIBRARIES.entries()) {
    test(`${library}: a lock in use survives it: one at a time, every token higher, and its hold is kept`, {
      timeout: 60_000,
    }, async () => {
      const [from, to, other] = [
        site.cluster.servers[at]!,
        site.cluster.servers[at + 1]!,
        site.cluster.servers[(at + 2) % 3]!,
      ];
      const key = (await keysAt(from))(`moved:${library}`);
      const slot = slotOf(`{${key}}`);
      await using one = createLocks(await site.fleet.backend(library));
      await using two = createLocks(await site.fleet.backend(library));
      await using passing = createLocks(await site.fleet.backend(library));
      const tokens: bigint[] = [];
      let inside = 0;
      let moving = true;
      const work = async ({ token }: Lease): Promise<void> => {
        expect(++inside, 'inside at once').toBe(1);
        tokens.push(token);
        await sleep(5);
        inside--;
      };
      const worker = async (locks: Locks): Promise<void> => {
        while (moving) await locks.mutex(key).run(work);
      };
      // Asks all the time, so also right after a part of the lock was moved. It waits for nothing, and may be told to ask again.
      const passerBy = async (): Promise<void> => {
        while (moving) {
          const lease = await passing
            .mutex(key)
            .tryAcquire()
            .catch((error: unknown) => {
              expect(isLockError(error, 'LOCK_UNAVAILABLE'), `${error}`).toBe(true);
              return null;
            });
          if (lease) await work(lease).finally(() => lease.release());
          await sleep(1);
        }
      };
      const workers = [worker(one), worker(two), passerBy()];
      const done = Promise.all(workers);
      done.catch(() => {}); // awaited below
      await expect.poll(() => tokens.length, { message: 'turns before the slot moves' }).toBeGreaterThan(0);
      await move(slot, 'lock first', from, to, [other]);
      const before = tokens.length;
      await move(slot, 'lock last', to, from, [other]);
      moving = false;
      await done;
      expect(tokens.length).toBeGreaterThan(before);
      expect(
        tokens.every((token, i) => i === 0 || token > tokens[i - 1]!),
        'tokens grow',
      ).toBe(true);
    });
  }
});
