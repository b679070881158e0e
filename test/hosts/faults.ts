import { randomFrom } from '../../src/testing/random.ts';
import type { Network, NetworkFault } from '../../src/torture/events.ts';
import { type Drop, dropPackets, type Host } from './network.ts';

/** The part of packets that a bad cable loses. */
const LOST = 0.25;

const from = (host: Host, other: Host): Drop => ({ host, packets: ['-s', other.address] });

/** Into two groups, or into three. Which host is in which follows from `random`. */
function partition(hosts: readonly Host[], random: () => number): Drop[] {
  const groups = random() < 0.7 ? 2 : 3;
  const group = new Map(hosts.map((host) => [host, Math.floor(random() * groups)]));
  // Never all in one.
  group.set(hosts[0]!, 0);
  group.set(hosts[1]!, 1);
  return hosts.flatMap((host) =>
    hosts.filter((other) => group.get(other) !== group.get(host)).map((other) => from(host, other)),
  );
}

/** What each kind of fault drops. `worker` is the host that it is about, `servers` all that it may be about besides. */
const DROPS: Readonly<
  Record<
    NetworkFault,
    (worker: Host, servers: readonly Host[], workers: readonly Host[], random: () => number) => Drop[]
  >
> = {
  partitioned(worker, servers, workers, random) {
    // The first two are apart: two servers, or the only server and a worker.
    const [first, second] = shuffled(servers, random);
    const rest = [...servers, ...workers].filter((host) => host !== first && host !== (second ?? worker));
    return partition([first!, second ?? worker, ...rest], random);
  },
  'cut one way'(worker, servers, _workers, random) {
    const server = shuffled(servers, random)[0]!;
    return [random() < 0.5 ? from(server, worker) : from(worker, server)];
  },
  'losing packets': (worker, servers, _workers, random) => [
    {
      host: shuffled([worker, ...servers], random)[0]!,
      packets: ['-m', 'statistic', '--mode', 'random', '--probability', `${LOST}`],
    },
  ],
  vanished: (worker, servers, _workers, random) => [
    { host: random() < 0.5 ? worker : shuffled(servers, random)[0]!, packets: [] },
  ],
};

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

/** The network as torture sees it. One fault at a time: two might leave no majority for the whole run. */
export function faultyNetwork(servers: readonly Host[], workers: readonly Host[]): Network {
  let active = false;
  return {
    onHost: (by) => workers[by]!.command,
    fault(kind, by, choice) {
      if (active) return undefined;
      active = true;
      return async (pause) => {
        const random = randomFrom(Math.floor(choice * 2 ** 31));
        const end = dropPackets(DROPS[kind](workers[by]!, servers, workers, random));
        await pause();
        active = false;
        return end();
      };
    },
  };
}
