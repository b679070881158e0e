import { afterAll, beforeAll, expect, test } from 'vitest';
import { slotOf } from '../../../src/backends/redis/slot.ts';
import { createLocks } from '../../../src/index.ts';
import { askRedis, startRedisCluster } from '../../kit/redis.ts';
import type { Server, Servers } from '../../kit/server.ts';
import { describeOn } from '../../kit/suite.ts';
import { clusterFleet } from '../redis/clients.ts';
import { type Fleet, LIBRARIES } from '../redis/fleet.ts';
import { keysAt } from './keys.ts';

const idOf = async ({ port }: Server): Promise<string> => (await askRedis(port, 'CLUSTER MYID')).split('\r\n')[1]!;

/** Moves a slot, key by key, as redis-cli does, and waits a moment in each state. */
async function move(slot: number, from: Server, to: Server, all: readonly Server[]): Promise<void> {
  const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 100));
  await askRedis(to.port, `CLUSTER SETSLOT ${slot} IMPORTING ${await idOf(from)}`);
  await askRedis(from.port, `CLUSTER SETSLOT ${slot} MIGRATING ${await idOf(to)}`);
  await pause();
  for (;;) {
    const keys = (await askRedis(from.port, `CLUSTER GETKEYSINSLOT ${slot} 1`)).split('\r\n').slice(2, -1);
    if (keys.length === 0) break;
    await askRedis(from.port, `MIGRATE 127.0.0.1 ${to.port} ${keys[0]} 0 1000`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await pause();
  for (const { port } of [to, from, ...all]) await askRedis(port, `CLUSTER SETSLOT ${slot} NODE ${await idOf(to)}`);
}

describeOn('redis', 'redis-cluster, a slot moved', () => {
  let cluster: Servers;
  let fleet: Fleet;

  beforeAll(async () => {
    cluster = await startRedisCluster();
    fleet = clusterFleet(cluster.servers);
  });
  afterAll(async () => {
    await fleet[Symbol.asyncDispose]();
    await cluster[Symbol.asyncDispose]();
  });

  for (const [at, library] of LIBRARIES.entries()) {
    test(`${library}: a lock in use survives it: one at a time, every token higher, and its hold is kept`, {
      timeout: 60_000,
    }, async () => {
      const [from, to, other] = [cluster.servers[at]!, cluster.servers[at + 1]!, cluster.servers[(at + 2) % 3]!];
      const key = (await keysAt(from))(`moved:${library}`);
      const slot = slotOf(`{${key}}`);
      await using one = createLocks(await fleet.backend(library));
      await using two = createLocks(await fleet.backend(library));
      const tokens: bigint[] = [];
      let inside = 0;
      let moving = true;
      const worker = async (locks: typeof one): Promise<void> => {
        while (moving) {
          await locks.mutex(key).run(async ({ token }) => {
            expect(++inside, 'inside at once').toBe(1);
            tokens.push(token);
            await new Promise((resolve) => setTimeout(resolve, 5));
            inside--;
          });
        }
      };
      const workers = [worker(one), worker(two)];
      await move(slot, from, to, [other]);
      const before = tokens.length;
      await move(slot, to, from, [other]);
      moving = false;
      await Promise.all(workers);
      expect(before).toBeGreaterThan(0);
      expect(tokens.length).toBeGreaterThan(before);
      expect(
        tokens.every((token, i) => i === 0 || token > tokens[i - 1]!),
        'tokens grow',
      ).toBe(true);
    });
  }
});
