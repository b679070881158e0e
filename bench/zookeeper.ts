import { zookeeper } from '../src/backends/zookeeper/index.ts';
import type { ZooKeeperConnection } from '../src/backends/zookeeper/wire/connection.ts';
import {
  createContainer,
  createEphemeralSequential,
  getChildren,
  getData,
  OPEN,
  remove,
} from '../src/backends/zookeeper/wire/operations.ts';
import { ZooKeeperSession } from '../src/backends/zookeeper/wire/session.ts';
import { systemClock } from '../src/core/contract/clock.ts';
import { createLocks } from '../src/index.ts';
import { HOST } from '../test/kit/net.ts';
import { startZookeeper, startZookeeperMembers } from '../test/kit/zookeeper.ts';

/**
 * ZooKeeper: an uncontended cycle and a hand-over between two sessions, each as a ratio to a floor measured in the same run
 * on the same client: the bare calls of the recipe, and one delete of which the server notifies another session.
 * Run: `node bench/zookeeper.ts`
 */

const ROUNDS = 7;
const CYCLES = 150;
const TIMEOUT = 10_000;
const NOTHING = Buffer.alloc(0);

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;

/** Median of so many runs of `once`, which says how long it took, in ms. */
async function timed(once: () => Promise<number>): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < CYCLES; i++) times.push(await once());
  return median(times);
}

async function took(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/** A waiter stands in line and watches by then. Both hand-overs begin from this rest: a server that is busy is faster. */
const rest = () => new Promise((resolve) => setTimeout(resolve, 15));

const node = (path: string) => createEphemeralSequential(`${path}/_c_0-lock-`, NOTHING, OPEN);

async function bareCycle(connection: ZooKeeperConnection, path: string): Promise<void> {
  const created = await connection.request(node(path));
  await connection.request(getChildren(path));
  await connection.request(remove(created.path));
}

/** From the delete to the event, in another session. ms. */
async function bareHop(from: ZooKeeperConnection, to: ZooKeeperConnection, path: string): Promise<number> {
  const created = await from.request(node(path));
  const heard = Promise.withResolvers<void>();
  await to.request(getData(created.path), heard.resolve);
  await rest();
  return took(() => Promise.all([from.request(remove(created.path)), heard.promise]));
}

async function measure(title: string, servers: readonly { readonly port: number }[]): Promise<void> {
  const addresses = servers.map(({ port }) => ({ host: HOST, port }));
  const text = addresses.map(({ host, port }) => `${host}:${port}`).join();
  const silent = { onConnection() {}, onExpiry() {}, doubtful() {} };
  const sessions = [1, 2].map(
    () => new ZooKeeperSession({ servers: addresses, timeout: TIMEOUT, clock: systemClock }, silent),
  );
  const locks = [1, 2].map(() => createLocks(zookeeper({ servers: text, sessionTimeout: TIMEOUT })));
  const [one, two] = await Promise.all(sessions.map((session) => session.connection(TIMEOUT)));
  await one!.request(createContainer('/bare', OPEN));

  const ourHandOver = async (): Promise<number> => {
    const lease = await locks[0]!.mutex('hand-over').acquire();
    const next = locks[1]!.mutex('hand-over').acquire();
    await rest();
    const ms = await took(() => Promise.all([lease.release(), next]));
    await (await next).release();
    return ms;
  };

  const cycles: number[] = [];
  const hops: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const floor = await timed(() => took(() => bareCycle(one!, '/bare')));
    const ours = await timed(() => took(async () => (await locks[0]!.mutex('cycle').acquire()).release()));
    const hop = await timed(() => bareHop(one!, two!, '/bare'));
    const handOver = await timed(ourHandOver);
    if (round === 0) continue; // warm-up
    cycles.push(floor / ours);
    hops.push(handOver / hop);
    console.log(
      `${title}: bare cycle ${floor.toFixed(2)} ms, ours ${ours.toFixed(2)} ms; bare hop ${hop.toFixed(2)} ms, hand-over ${handOver.toFixed(2)} ms`,
    );
  }
  console.log(`${title}: uncontended cycle ${median(cycles).toFixed(2)} × floor (at least 0.8 wanted)`);
  console.log(`${title}: hand-over takes ${median(hops).toFixed(2)} × one delete and its event`);
  await Promise.all([...locks, ...sessions].map((each) => each.close()));
}

{
  await using server = await startZookeeper();
  await measure('one server', [server]);
}
{
  await using members = await startZookeeperMembers();
  await measure('three members', members.servers);
}
