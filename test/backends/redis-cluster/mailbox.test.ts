import type { Cluster } from 'ioredis';
import { expect, test } from 'vitest';
import { slotOf } from '../../../src/backends/redis/port.ts';
import type { Backend } from '../../../src/core/contract/backend.ts';
import { createLocks } from '../../../src/index.ts';
import { askRedis, untilWhole } from '../../kit/redis.ts';
import type { Server } from '../../kit/server.ts';
import { describeOn } from '../../kit/suite.ts';
import { until } from '../../kit/wait.ts';
import { LIBRARIES } from '../redis/fleet.ts';
import { granted, Mail, wish } from '../redis/scene.ts';
import { keysAt } from './keys.ts';
import { move } from './move.ts';
import { replicaOf, takeOver } from './replica.ts';
import { type ClusterSite, sharedCluster } from './site.ts';

/** The channels of mailboxes to which somebody listens at this node. */
const channelsAt = async ({ port }: Server): Promise<string[]> =>
  (await askRedis(port, 'PUBSUB SHARDCHANNELS')).split('\r\n').filter((line) => line.includes(':wake:'));

/** The primaries as they are now: each test may have moved them. */
async function primariesOf({ cluster }: ClusterSite): Promise<Server[]> {
  await untilWhole(cluster);
  const roles = await Promise.all(cluster.servers.map(({ port }) => askRedis(port, 'ROLE')));
  return cluster.servers.filter((_, i) => roles[i]!.includes('master'));
}

/** Each way in which a slot of the first primary gets another one, which it gives. */
const WAYS: Readonly<Record<string, (site: ClusterSite, slot: number) => Promise<Server>>> = {
  'its slot has moved': async (site, slot) => {
    const [from, to, other] = (await primariesOf(site)) as [Server, Server, Server];
    await move(slot, 'lock last', from, to, [other]);
    return to;
  },
  'a replica took over': async (site) => {
    const [from] = await primariesOf(site);
    const to = await replicaOf(from!, site.cluster.servers);
    await takeOver(to);
    return to;
  },
};

/** How many scripts all nodes ran. */
async function scriptsOf({ cluster }: ClusterSite): Promise<number> {
  const stats = await Promise.all(cluster.servers.map(({ port }) => askRedis(port, 'INFO commandstats')));
  return stats.reduce((sum, text) => sum + Number(/cmdstat_evalsha:calls=(\d+)/.exec(text)?.[1] ?? 0), 0);
}

/** What the listeners of an ioredis client do with the first messages by which their channel is proved. */
function atProof(client: Cluster, act: (listener: { disconnect(): void }) => boolean): void {
  for (const node of client.nodes('master')) {
    const duplicate = node.duplicate.bind(node);
    node.duplicate = (override) => {
      const listener = duplicate(override);
      const on = listener.on.bind(listener) as (event: string, heard: (...args: unknown[]) => void) => unknown;
      const filtered = (event: string, heard: (...args: unknown[]) => void): unknown =>
        on(event, (...args) => {
          if (event === 'smessage' && args[1] === 'probe' && act(listener)) return;
          heard(...args);
        });
      return Object.assign(listener, { on: filtered });
    };
  }
}

describeOn('redis', 'redis-cluster, the mailboxes of a process', () => {
  const site = sharedCluster();

  for (const library of LIBRARIES) {
    for (const [what, way] of Object.entries(WAYS)) {
      test(`${library}: after ${what}, a sign of life of a waiter opens its mailbox on the new node`, {
        timeout: 60_000,
      }, async () => {
        const key = (await keysAt((await primariesOf(site))[0]!))(`another:${library}`);
        const [holders, waiters] = [await site.fleet.backend(library), await site.fleet.backend(library)];
        const [holder, waiter] = [wish(key), wish(key)];
        granted(await holders.attempt(holder));
        await using mail = await Mail.of(waiters, waiter);
        await waiters.attempt(waiter);
        const to = await way(site, slotOf(`{${key}}`));
        const before = new Set(await channelsAt(to));
        await until('it listens on the new node', async () => {
          await waiters.attempt(waiter).catch(() => {}); // a sign of life, as core gives one every two seconds
          return (await channelsAt(to)).some((channel) => !before.has(channel));
        });
        await waiters.attempt(waiter);
        await holders.release(holder);
        await until('it is told of its grant', async () => mail.wakes.some((grant) => grant?.granted));
        await waiters.release(waiter);
      });
    }

    test(`${library}: with the default ttl a section of a waiter costs two scripts: what it is told counts`, async () => {
      const key = (await keysAt((await primariesOf(site))[1]!))(`cost:${library}`);
      await using one = createLocks(await site.fleet.backend(library));
      await using two = createLocks(await site.fleet.backend(library));
      const sections = async (rounds: number): Promise<void> => {
        const worker = async (mutex: ReturnType<typeof one.mutex>): Promise<void> => {
          for (let i = 0; i < rounds; i++) await mutex.run(() => {});
        };
        await Promise.all([worker(one.mutex(key)), worker(two.mutex(key))]);
      };
      await sections(20); // the mailboxes are open now
      const before = await scriptsOf(site);
      await sections(100);
      expect((await scriptsOf(site)) - before, 'scripts for 200 sections').toBeLessThan(500);
    });
  }

  const proved = async (act: (listener: { disconnect(): void }) => boolean): Promise<Backend> => {
    const client = (await site.fleet.client('ioredis')) as unknown as Cluster;
    atProof(client, act);
    const backend = site.fleet.over(client as never);
    const key = (await keysAt((await primariesOf(site))[2]!))('proof');
    await until('it listens', async () => {
      const watch = await Promise.resolve(backend.watch!(wish(key), () => {})).catch(() => undefined);
      await watch?.[Symbol.asyncDispose]();
      return watch !== undefined;
    });
    return backend;
  };
  const codesOf = async (backend: Backend): Promise<string[]> => (await backend.check!()).map(({ code }) => code);

  test('a connection that is cut as its channel is proved, or a probe that is late once, does not end sharded messages', async () => {
    let cuts = 0;
    const cut = await proved((listener) => {
      if (cuts++ > 0) return false;
      listener.disconnect();
      return true;
    });
    let late = 0;
    const stalled = await proved(() => late++ < 1);
    expect(cuts, 'a second proof').toBeGreaterThan(1);
    await new Promise((resolve) => setTimeout(resolve, 2_500)); // the proof of the cut connection would be over by now
    expect(await codesOf(cut)).not.toContain('ordinary-messages');
    expect(await codesOf(stalled)).not.toContain('ordinary-messages');
  });

  test('a client that never hears sharded messages uses ordinary ones', async () => {
    expect(await codesOf(await proved(() => true))).toContain('ordinary-messages');
  });
});
