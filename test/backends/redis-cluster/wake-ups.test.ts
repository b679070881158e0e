import { expect, test } from 'vitest';
import { around } from '../../../products/testing/around.ts';
import type { NodeRedisClusterLike } from '../../../src/backends/redis/cluster-clients.ts';
import type { NodeRedisLike } from '../../../src/backends/redis/node-redis.ts';
import type { Backend } from '../../../src/core/contract/backend.ts';
import { createLocks, type Lease } from '../../../src/index.ts';
import { askRedis, untilWhole } from '../../kit/redis.ts';
import { describeOn } from '../../kit/suite.ts';
import { settleWithin, until } from '../../kit/wait.ts';
import { clusterFleet } from '../redis/clients.ts';
import { LIBRARIES } from '../redis/fleet.ts';
import { granted, Mail, wish } from '../redis/scene.ts';
import { keysAt } from './keys.ts';
import { sharedCluster } from './site.ts';

async function standings(backend: Backend, key: string): Promise<number> {
  let count = 0;
  for await (const _ of backend.inspect!(key)) count++;
  return count;
}

describeOn('redis', 'redis-cluster, whose turn it is', () => {
  const site = sharedCluster();

  for (const library of LIBRARIES) {
    test(`${library}: a waiter hears of its grant on whichever node it listens and the key lies`, async () => {
      const holders = await site.fleet.backend();
      for (let listener = 0; listener < 4; listener++) {
        const waiters = await site.fleet.backend(library);
        for (const primary of site.cluster.servers.slice(0, 3)) {
          const key = (await keysAt(primary))(`heard:${library}:${listener}`);
          const holder = wish(key);
          const waiter = wish(key);
          granted(await holders.attempt(holder));
          await using mail = await Mail.of(waiters, waiter);
          expect((await waiters.attempt(waiter)).granted).toBe(false);
          await holders.release(holder);
          const grant = granted(await mail.next(1_500));
          expect(granted(await waiters.attempt(waiter)).token).toBe(grant.token);
          await waiters.release(waiter);
        }
      }
    });

    test(`${library}: a place whose process went silent is passed over, though its lease is long`, async () => {
      const [holders, dying, living] = [
        await site.fleet.backend(),
        await site.fleet.backend(library),
        await site.fleet.backend(library),
      ];
      const key = `silent:${library}`;
      const [holder, dead, next] = [wish(key), wish(key, { ttl: 600_000 }), wish(key)];
      granted(await holders.attempt(holder));
      await dying.attempt(dead);
      await dying.close();
      await using mail = await Mail.of(living, next);
      await living.attempt(next);
      await holders.release(holder); // admits the dead one, which is not known to be dead
      const admitted = async () => (await living.attempt(next)).granted || mail.wakes.length > 0;
      await until('the next is admitted', admitted);
    });
  }

  test('node-redis before 5.11, which gives a connection that is there at once, is listened over too', async () => {
    const client = (await site.fleet.client('node-redis')) as NodeRedisClusterLike;
    for (const node of client.masters) {
      const connected = await client.nodeClient(node as never);
      Object.assign(node, { connected });
    }
    const nodeClient = (node: { connected: NodeRedisLike }): NodeRedisLike => node.connected;
    const backend = site.fleet.over(Object.assign(client, { nodeClient }));
    const [holder, waiter] = [wish('older'), wish('older')];
    granted(await backend.attempt(holder));
    await using mail = await Mail.of(backend, waiter);
    await backend.attempt(waiter);
    await backend.release(holder);
    granted(await mail.next());
  });

  /** Gives the time for which a waiter is told that its grant is good, and has it renewed. */
  async function toldFor(backend: Backend, key: string): Promise<number> {
    const [holder, waiter] = [wish(key), wish(key, { ttl: 60_000 })];
    granted(await backend.attempt(holder));
    await using mail = await Mail.of(backend, waiter);
    await backend.attempt(waiter);
    await backend.release(holder);
    const { validFor } = granted(await mail.next());
    expect(await backend.renew([waiter])).toEqual([{ validFor: 60_000 }]);
    for await (const { remaining } of backend.inspect!(key)) expect(remaining).toBeGreaterThan(50_000);
    return validFor;
  }

  test('a grant that is told where its process listens is good for its whole ttl', async () => {
    expect(await toldFor(await site.fleet.backend(), 'whole')).toBe(60_000);
  });

  test('where nobody may count the listeners it is good for as long as silence is borne; a renewal makes it whole', async () => {
    for (const { port } of site.cluster.servers) {
      await askRedis(port, 'ACL SETUSER counts-nobody on >pw ~* &* +@all -pubsub');
    }
    const user = { username: 'counts-nobody', password: 'pw' };
    await using fleet = clusterFleet(site.cluster.servers, { redisOptions: user });
    expect(await toldFor(await fleet.backend(), 'short')).toBe(6_000);
  });

  test('a waiter that was passed over for its silence takes no old mail for its turn', async () => {
    const near = await site.fleet.backend();
    const held: (() => void)[] = [];
    const watched = Promise.withResolvers<void>();
    let stall: PromiseWithResolvers<void> | undefined;
    const far = around(near, {
      attempt: async (claim) => {
        await stall?.promise;
        return near.attempt(claim);
      },
      watch: async (claim, wake) => {
        const watch = await near.watch!(claim, (grant) => (stall ? held.push(() => wake(grant)) : wake(grant)));
        watched.resolve();
        return watch;
      },
    });
    const others = await site.fleet.backend();
    const [holder, next] = [wish('passed-over'), wish('passed-over')];
    granted(await others.attempt(holder));
    await using locks = createLocks(far);
    let lease: Lease | undefined;
    const waiting = locks
      .mutex('passed-over')
      .acquire({ ttl: '3s' })
      .then((got) => {
        lease = got;
      });
    await settleWithin('it listens', watched.promise);
    stall = Promise.withResolvers();
    await others.release(holder); // admits it, which it does not hear
    await until('it is passed over', async () => (await others.attempt(next)).granted);
    stall.resolve();
    stall = undefined;
    await until('it stands in line again', async () => (await standings(others, 'passed-over')) === 2);
    expect(held, 'old mail').not.toEqual([]);
    for (const deliver of held) deliver();
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(lease?.held, 'two hold').toBeUndefined();
    await others.release(next);
    await waiting;
    expect(lease?.held).toBe(true);
  });

  test.each([
    undefined,
    { acknowledge: 1 },
  ])('a node that hangs makes only its own holds unknown, and soon; replicas: %j', async (replicas) => {
    const backend = await site.fleet.backend('node-redis', { replicas });
    const claims = [];
    for (const primary of site.cluster.servers.slice(0, 3)) {
      const claim = wish((await keysAt(primary))(`hangs:${replicas}`), { ttl: 4_000 });
      granted(await backend.attempt(claim));
      claims.push(claim);
    }
    site.cluster.servers[1]!.pause();
    try {
      // Within the third of the lease that core gives it.
      const [first, second, third] = await settleWithin('the answer', backend.renew(claims), 1_300);
      expect([first, second, third]).toEqual([{ validFor: 4_000 }, 'unknown', { validFor: 4_000 }]);
    } finally {
      site.cluster.servers[1]!.resume();
      await untilWhole(site.cluster); // for whoever comes next: it may have been missed by then
    }
  });
});
