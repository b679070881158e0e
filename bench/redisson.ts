import { jarsOfRedisson, PEER, VERSIONS } from '../test/backends/redisson/peer.ts';
import { startNode } from '../test/backends/redisson/race.ts';
import { JavaPeer } from '../test/kit/java.ts';
import { startRedis } from '../test/kit/redis.ts';

/**
 * How soon the next one is in, from the call of a release in one process to the lock in another, by the clock of the machine that both can
 * read. The four pairs take turns in one run.
 *
 *   node bench/redisson.ts [rounds]
 */

const ROUNDS = Number(process.argv[2] ?? 100);
/** The next one has begun to wait by then, ms. */
const SETTLED = 60;

interface Side {
  /** Gives the time at which it has the lock, ns. */
  take(name: string): Promise<bigint>;
  /** Gives the time at which it began to free it. */
  free(name: string): Promise<bigint>;
}

const at = (times: readonly number[], part: number): number =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length * part)]!;

for (const version of VERSIONS) {
  const jars = await jarsOfRedisson(version);
  if (!jars) continue;
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await startRedis());
  const url = server.url.replace('redis:', 'redis+redisson:');
  const java = async (): Promise<Side> => {
    const peer = stack.use(await JavaPeer.start(PEER, jars, server.url, '30000'));
    return {
      take: async (name) => BigInt(await peer.ask(`a timedTake lock ${name}`)),
      free: async (name) => BigInt(await peer.ask(`a timedFree lock ${name}`)),
    };
  };
  const node = async (): Promise<Side> => {
    const worker = stack.use(await startNode());
    return { take: (name) => worker.call('timedTake', url, name), free: () => worker.call('timedFree') };
  };
  const [java1, java2, node1, node2] = await Promise.all([java(), java(), node(), node()]);
  const pairs = {
    'Java to Java': [java1, java2],
    'Java to Node.js': [java1, node1],
    'Node.js to Java': [node1, java1],
    'Node.js to Node.js': [node1, node2],
  } satisfies Record<string, [Side, Side]>;
  const took = new Map(Object.keys(pairs).map((pair) => [pair, [] as number[]]));
  for (let round = -10; round < ROUNDS; round++) {
    for (const [pair, [first, second]] of Object.entries(pairs)) {
      const name = `${pair.replaceAll(/\W/g, '')}-${round}`;
      await first.take(name);
      const next = second.take(name);
      await new Promise((resolve) => setTimeout(resolve, SETTLED));
      const began = await first.free(name);
      const ms = Number((await next) - began) / 1e6;
      await second.free(name);
      if (round >= 0) took.get(pair)!.push(ms); // before that, both warm up
    }
  }
  const floor = at(took.get('Java to Java')!, 0.5);
  console.log(`Redisson ${version}, ${ROUNDS} rounds`);
  console.table(
    [...took].map(([pair, times]) => ({
      pair,
      'p50, ms': at(times, 0.5).toFixed(2),
      'p95, ms': at(times, 0.95).toFixed(2),
      'of Redisson to Redisson': (at(times, 0.5) / floor).toFixed(2),
    })),
  );
}
