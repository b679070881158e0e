import {
  commandsOf,
  connectionOver as connectionOverIoredis,
  type IoredisLike,
  type IoredisSender,
  listenOver as listenOverIoredis,
} from './ioredis.ts';
import { connectionOver, type KeyPrefix, listenOver, type NodeRedisLike, raw } from './node-redis.ts';
import {
  CHANGED_KEYS,
  connections,
  type Listening,
  listenLater,
  type OwnConnection,
  type Port,
  SLOTS,
  slotOf,
} from './port.ts';

/** What differs between the clients of a Cluster. N is the client of one of its servers. */
interface ClusterClient<N> {
  /** The address of the primary that has a slot now, as far as the client knows. */
  primaryOf(slot: number): string | undefined;
  /** The addresses of all primaries; undefined stands for slots without a known primary. */
  primaries(): readonly (string | undefined)[];
  reached(): readonly string[];
  /** Gives nothing if the client has no such node now. */
  clientOf(address: string | undefined): N | undefined | Promise<N>;
  send(node: N, args: readonly string[]): Promise<unknown>;
  connect(node: N, over: AbortSignal, lost: () => void): Promise<OwnConnection>;
  listen(
    node: N,
    channel: string,
    onMessage: (message: string) => void,
    lost: () => void,
    kind?: 'sharded' | 'keys',
  ): Listening<string>;
  readonly shards: boolean;
}

function overCluster<N>(
  client: ClusterClient<N>,
): Pick<Port, 'cluster' | 'nodeOf' | 'nodes' | 'ownConnection' | 'listen' | 'listenAt' | 'listenForKeys'> {
  let turn: number | undefined;
  const open = async (address: string | undefined): Promise<N> => {
    const node = await client.clientOf(address);
    if (!node) throw new Error('the client knows no node for some keys');
    return node;
  };
  return {
    cluster: true,
    nodeOf: (slot) => client.primaryOf(slot) ?? '',
    nodes: () =>
      client.primaries().map((address) => ({
        command: async (...args) => client.send(await open(address), args),
      })),
    ownConnection: async (slot, over, lost) => client.connect(await open(client.primaryOf(slot)), over, lost),
    listen: (channel, onMessage, lost) => {
      // Every node delivers what is published at any node, so one node is enough. The next try goes to another node, since this node may be dead.
      const all = client.reached();
      turn = (turn ?? slotOf(channel)) + 1;
      return listenLater(open(all[turn % all.length]), (node) => client.listen(node, channel, onMessage, lost));
    },
    listenForKeys: (slot, onMessage, lost) =>
      listenLater(open(client.primaryOf(slot)), (node) => client.listen(node, CHANGED_KEYS, onMessage, lost, 'keys')),
    ...(client.shards && {
      listenAt: (slot, channel, onMessage, lost) =>
        listenLater(open(client.primaryOf(slot)), (node) => client.listen(node, channel, onMessage, lost, 'sharded')),
    }),
  };
}

/** The part of a Cluster of ioredis that holdfast uses. */
export interface IoredisClusterLike extends IoredisSender {
  readonly status: string;
  readonly options?: { readonly keyPrefix?: string | undefined };
  /** The servers of each slot, the primary first, as `host:port`. */
  readonly slots: readonly (readonly string[] | undefined)[];
  nodes(role: 'master'): IoredisLike[];
  ssubscribe?: unknown;
  on(event: '-node', listener: () => void): unknown;
  off(event: '-node', listener: () => void): unknown;
}

export function overIoredisCluster(client: IoredisClusterLike): Port {
  const keyPrefix = client.options?.keyPrefix ?? '';
  const addressOf = ({ options }: IoredisLike): string => `${options?.host}:${options?.port}`;
  const primaryOf = (slot: number): string | undefined => client.slots[slot]?.[0];
  return {
    get ended() {
      // In ioredis 6.0 the status 'close' follows 'end' if the owner closed the client. A command that is sent after that waits for ever.
      const closed = client.status === 'close' && (client as { manuallyClosing?: unknown }).manuallyClosing === true;
      return closed || client.status === 'end';
    },
    keyPrefix,
    ...commandsOf(client),
    onResend: (again) => connections(client, again, '-node'),
    ...overCluster<IoredisLike>({
      primaryOf,
      // Reads the primaries from the slots, since the client forgets a node as soon as its connection is lost.
      primaries: () => [...new Set(Array.from({ length: SLOTS }, (_, slot) => primaryOf(slot)))],
      reached: () => client.nodes('master').map(addressOf),
      clientOf: (address) => client.nodes('master').find((each) => addressOf(each) === address),
      send: (node, [name, ...args]) => node.call(name!, ...args),
      connect: (node, over, lost) => connectionOverIoredis(node, over, lost, keyPrefix),
      listen: listenOverIoredis,
      shards: typeof client.ssubscribe === 'function',
    }),
  };
}

interface Member {
  readonly address: string;
}

/** The part of a cluster client of node-redis that holdfast uses. */
export interface NodeRedisClusterLike {
  readonly isOpen: boolean;
  readonly _keyPrefix?: KeyPrefix | undefined;
  readonly slots: readonly ({ readonly master: Member } | undefined)[];
  readonly masters: readonly Member[];
  nodeClient(node: never): Promise<NodeRedisLike> | NodeRedisLike;
  sendCommand(firstKey: string | undefined, isReadonly: boolean, args: string[]): Promise<unknown>;
  duplicate(): unknown;
  sSubscribe?: unknown;
}

export function overNodeRedisCluster(client: NodeRedisClusterLike): Port {
  const primaries = (): string[] => client.masters.map(({ address }) => address);
  return {
    ...raw(client._keyPrefix, (firstKey, args) => client.sendCommand(firstKey, false, args)),
    get ended() {
      return !client.isOpen;
    },
    ...overCluster<NodeRedisLike>({
      primaryOf: (slot) => client.slots[slot]?.master.address,
      primaries,
      reached: primaries,
      // The node is looked up by its address: otherwise the client might connect to a former primary.
      clientOf: (address) => {
        const node = client.masters.find((known) => known.address === address);
        return node && client.nodeClient(node as never); // before 5.11 this gives the connected client itself, no promise
      },
      send: (node, args) => node.sendCommand(args),
      connect: (node, over, lost) => connectionOver(node, over, lost, client._keyPrefix),
      listen: listenOver,
      shards: typeof client.sSubscribe === 'function',
    }),
  };
}
