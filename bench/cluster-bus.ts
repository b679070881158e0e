/**
 * Redis Cluster: hand-overs of one key between two processes, and what each costs the bus of the Cluster, at 3, 6 and 12 primaries:
 * with sharded messages and, beside them in the same run, with ordinary ones, which go to every node.
 * Run: `node bench/cluster-bus.ts`
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Cluster } from 'ioredis';
import { redis } from '../src/backends/redis/index.ts';
import { createLocks, type Locks } from '../src/index.ts';
import { HOST } from '../test/kit/net.ts';
import { askRedis, startRedisPrimaries } from '../test/kit/redis.ts';
import type { Server } from '../test/kit/server.ts';
import { until } from '../test/kit/wait.ts';

const MS = 3_000;
const ROUNDS = 3;

async function busMessages(servers: readonly Server[]): Promise<number> {
  const infos = await Promise.all(servers.map(({ port }) => askRedis(port, 'CLUSTER INFO')));
  const sent = infos.flatMap((info) => [...info.matchAll(/messages_publish(?:shard)?_sent:(\d+)/g)]);
  return sent.reduce((all, [, count]) => all + Number(count), 0);
}

/** Two who take one key in turns for `MS`, each heard of by the other: hand-overs, and messages of the bus for each. */
async function handOvers(servers: readonly Server[], how: 'sharded' | 'ordinary'): Promise<[number, number]> {
  const clients = [0, 1].map(() => new Cluster(servers.map(({ port }) => ({ host: HOST, port }))));
  await Promise.all(clients.map((client) => new Promise((resolve) => client.once('ready', resolve))));
  if (how === 'ordinary') for (const client of clients) Object.assign(client, { ssubscribe: undefined });
  const both: Locks[] = clients.map((client) => createLocks(redis(client, { prefix: how })));
  let count = 0;
  const take = async (locks: Locks, end: number): Promise<void> => {
    while (Date.now() < end) await locks.mutex('baton').run(() => count++);
  };
  const run = (ms: number): Promise<unknown> => Promise.all(both.map((locks) => take(locks, Date.now() + ms)));
  await run(500);
  const before = await busMessages(servers);
  count = 0;
  await run(MS);
  const cost = (await busMessages(servers)) - before;
  await Promise.all(both.map((locks) => locks.close()));
  for (const client of clients) client.disconnect();
  return [count, cost / count];
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;

console.log('| primaries | hand-overs in 3 s, sharded | ordinary | bus messages a hand-over, sharded | ordinary |');
console.log('| --- | --- | --- | --- | --- |');
for (const primaries of [3, 6, 12]) {
  await using cluster = await startRedisPrimaries(primaries);
  const { servers } = cluster;
  for (const { port } of servers) {
    await until('the Cluster is ready', async () =>
      (await askRedis(port, 'CLUSTER INFO')).includes('cluster_state:ok'),
    );
  }
  const rows: { sharded: [number, number][]; ordinary: [number, number][] } = { sharded: [], ordinary: [] };
  for (let round = 0; round < ROUNDS; round++) {
    for (const how of ['sharded', 'ordinary'] as const) rows[how].push(await handOvers(servers, how));
    await sleep(100);
  }
  const figure = (how: 'sharded' | 'ordinary', at: 0 | 1): number => median(rows[how].map((row) => row[at]));
  const costs = (['sharded', 'ordinary'] as const).map((how) => figure(how, 1).toFixed(2));
  console.log(`| ${primaries} | ${figure('sharded', 0)} | ${figure('ordinary', 0)} | ${costs.join(' | ')} |`);
}
