import { expect, test } from 'vitest';
import { slotOf } from '../../../src/backends/redis/port.ts';
import type { Backend } from '../../../src/core/contract/backend.ts';
import { askRedis } from '../../kit/redis.ts';
import type { Servers } from '../../kit/server.ts';
import { describeOn } from '../../kit/suite.ts';
import { until } from '../../kit/wait.ts';
import { clusterFleet } from '../redis/clients.ts';
import { LIBRARIES } from '../redis/fleet.ts';
import { granted, Mail, wish } from '../redis/scene.ts';
import { keysAt } from './keys.ts';
import { move } from './move.ts';
import { sharedCluster } from './site.ts';

/** How many messages all nodes have sent over the bus for what was published: to every node, and within a shard. */
async function sent({ servers }: Servers): Promise<{ everywhere: number; within: number }> {
  const infos = await Promise.all(servers.map(({ port }) => askRedis(port, 'CLUSTER INFO')));
  const sum = (field: string): number =>
    infos.reduce(
      (all, info) => all + Number(new RegExp(`cluster_stats_messages_${field}_sent:(\\d+)`).exec(info)?.[1] ?? 0),
      0,
    );
  return { everywhere: sum('publish'), within: sum('publishshard') };
}

/** A hold handed to a waiter, which has to hear of it. */
async function handOver(from: Backend, to: Backend, key: string): Promise<void> {
  const [holder, waiter] = [wish(key), wish(key)];
  granted(await from.attempt(holder));
  await using mail = await Mail.of(to, waiter);
  expect((await to.attempt(waiter)).granted).toBe(false);
  await from.release(holder);
  granted(await mail.next(1_500));
  await to.release(waiter);
}

describeOn('redis', 'redis-cluster, what a hand-over costs its bus', () => {
  const site = sharedCluster();

  for (const [at, library] of LIBRARIES.entries()) {
    test(`${library}: no message to other primaries, one to each replica of its own`, async () => {
      const [holders, waiters] = [await site.fleet.backend(library), await site.fleet.backend(library)];
      const keys = await Promise.all(
        site.cluster.servers.slice(0, 3).map(async (primary) => (await keysAt(primary))('bus')),
      );
      for (const key of keys) await handOver(holders, waiters, key); // the channels are open now
      const before = await sent(site.cluster);
      for (let round = 0; round < 10; round++) for (const key of keys) await handOver(holders, waiters, key);
      const after = await sent(site.cluster);
      expect(after.everywhere - before.everywhere, 'messages to every node').toBe(0);
      expect(after.within - before.within, 'messages within a shard, for 30 hand-overs').toBe(30);
    });

    test(`${library}: after the slot of the channel has moved, the process listens to another one`, async () => {
      const [from, to, other] = [
        site.cluster.servers[at]!,
        site.cluster.servers[at + 1]!,
        site.cluster.servers[(at + 2) % 3]!,
      ];
      const key = (await keysAt(from))(`channel:${library}`);
      const [holders, waiters] = [await site.fleet.backend(library), await site.fleet.backend(library)];
      await handOver(holders, waiters, key);
      const channels = async (): Promise<string[]> =>
        (await askRedis(from.port, 'PUBSUB SHARDCHANNELS')).split('\r\n').filter((line) => line.includes(':wake:'));
      const [channel] = (await channels()) as [string];
      await move(slotOf(channel), 'lock last', from, to, [other]);
      await using _ = await Mail.of(waiters, wish(key));
      const isAnother = async (): Promise<boolean> => (await channels()).some((name) => name !== channel);
      await until('the process listens to another channel', isAnother);
      await handOver(holders, waiters, key);
      await move(slotOf(channel), 'lock last', to, from, [other]);
    });

    test(`${library}: without the right to sharded messages it uses ordinary ones, and check() says why`, async () => {
      for (const { port } of site.cluster.servers) {
        await askRedis(port, 'ACL SETUSER plain on >pw ~* &* +@all -spublish -ssubscribe');
      }
      const user = { username: 'plain', password: 'pw' };
      await using plain = clusterFleet(site.cluster.servers, { redisOptions: user }, { defaults: user });
      const [holders, waiters] = [await plain.backend(library), await plain.backend(library)];
      const key = (await keysAt(site.cluster.servers[1]!))('ordinary');
      await handOver(holders, waiters, key);
      const before = await sent(site.cluster);
      await handOver(holders, waiters, key);
      expect((await sent(site.cluster)).everywhere - before.everywhere, 'messages to every node').toBeGreaterThan(0);
      const found = (await waiters.check!()).find(({ code }) => code === 'ordinary-messages');
      expect(found?.message).toMatch(/no permissions to run the 'ssubscribe' command/);
      const able = await site.fleet.backend(library);
      expect((await able.check!()).map(({ code }) => code)).not.toContain('ordinary-messages');
    });
  }
});
