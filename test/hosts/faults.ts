import { randomFrom } from '../../products/testing/random.ts';
import type { Network, NetworkFault, Strike } from '../../products/torture/events.ts';
import { flowsOf } from './moving.ts';
import { type Drop, dropPackets, type Host } from './network.ts';
import type { Topology } from './sites.ts';

/** The part of packets that a bad cable loses. */
const LOST = 0.25;

/** How long a client may use a connection of which the network forgot, ms. */
const MAX_FORGOTTEN_MS = 20_000;
const LOOK_MS = 250;

interface Scene {
  readonly worker: Host;
  readonly servers: readonly Host[];
  readonly workers: readonly Host[];
  readonly topology: Pick<Topology, 'service' | 'failOver'>;
  readonly random: () => number;
}

const from = ({ topology }: Scene, host: Host, other: Host): Drop[] =>
  (topology.service?.of(other) ?? [other.address]).map((address) => ({ host, packets: ['-s', address] }));

/** Which host is in which group follows from chance. */
function partition(scene: Scene, groups: number): Drop[] {
  const { servers, worker, workers, random } = scene;
  // The first ones are apart: servers, or a server and workers.
  const apart = [...shuffled(servers, random), worker].slice(0, groups);
  const rest = [...servers, ...workers].filter((host) => !apart.includes(host));
  const group = new Map([
    ...apart.map((host, i) => [host, i] as const),
    ...rest.map((host) => [host, Math.floor(random() * groups)] as const),
  ]);
  const hosts = [...group.keys()];
  return hosts.flatMap((host) =>
    hosts.filter((other) => group.get(other) !== group.get(host)).flatMap((other) => from(scene, host, other)),
  );
}

/** Gives a fault that drops these packets for as long as it lasts. */
const dropping =
  (drops: (scene: Scene) => Drop[]) =>
  (scene: Scene): Strike =>
  async (pause) => {
    const end = dropPackets(drops(scene));
    await pause();
    return end();
  };

const FAULTS: Readonly<Record<NetworkFault, (scene: Scene) => Strike | undefined>> = {
  partitioned: dropping((scene) => partition(scene, 2)),
  'partitioned in three': dropping((scene) => partition(scene, 3)),
  'cut one way': dropping((scene) => {
    const server = shuffled(scene.servers, scene.random)[0]!;
    const { worker } = scene;
    return scene.random() < 0.5 ? from(scene, server, worker) : from(scene, worker, server);
  }),
  'losing packets': dropping(({ worker, servers, random }) => [
    {
      host: shuffled([worker, ...servers], random)[0]!,
      packets: ['-m', 'statistic', '--mode', 'random', '--probability', `${LOST}`],
    },
  ]),
  vanished: dropping(({ worker, servers, random }) => [
    { host: random() < 0.5 ? worker : shuffled(servers, random)[0]!, packets: [] },
  ]),
  /** What a worker has open gets nowhere any more, and nobody tells it; what it opens from now on does. */
  'forgotten by NAT':
    ({ worker: host }) =>
    async (pause) => {
      const flows = flowsOf(host, host.address);
      const end = dropPackets(
        flows.flatMap(({ port, peer }) => [
          { host, packets: ['-p', 'tcp', '-d', peer, '--sport', port] },
          { host, packets: ['-p', 'tcp', '-s', peer, '--dport', port] },
        ]),
      );
      const forgotten = new Set(flows.map(({ port }) => port));
      await pause();
      for (let passed = 0; passed < MAX_FORGOTTEN_MS; passed += LOOK_MS) {
        if (!flowsOf(host, host.address).some(({ port }) => forgotten.has(port))) break;
        await pause(LOOK_MS);
      }
      return end();
    },
  'address moved': ({ topology }) => topology.failOver,
};

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

/** The network as torture sees it. One fault at a time: two might leave no majority for the whole run. */
export function faultyNetwork(
  servers: readonly Host[],
  workers: readonly Host[],
  topology: Scene['topology'] = {},
): Network {
  let active = false;
  return {
    onHost: (by) => workers[by]!.command,
    fault(kind, by, choice) {
      if (active) return undefined;
      const random = randomFrom(Math.floor(choice * 2 ** 31));
      const strike = FAULTS[kind]({ worker: workers[by]!, servers, workers, topology, random });
      if (!strike) return undefined;
      active = true;
      return (pause) =>
        strike(pause).finally(() => {
          active = false;
        });
    },
  };
}
