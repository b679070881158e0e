import { slotOf } from './keys.ts';
import { connectionOver, type KeyPrefix, listenOver, type NodeRedisLike, raw } from './node-redis.ts';
import type { Listening, Port } from './port.ts';

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
  let turn: number | undefined;
  // Before 5.11 `nodeClient` returns a connected client itself, not a promise of it.
  const open = async (node: Member): Promise<NodeRedisLike> => client.nodeClient(node as never);
  return {
    ...raw(client._keyPrefix, (firstKey, args) => client.sendCommand(firstKey, false, args)),
    get ended() {
      return !client.isOpen;
    },
    cluster: true,
    nodeOf: (slot) => client.slots[slot]?.master.address ?? '',
    // The node is asked for by its address. The client would otherwise connect to a former primary without noticing.
    nodes: () =>
      client.masters.map(({ address }) => ({
        command: async (name, ...args) => {
          const node = client.masters.find((known) => known.address === address);
          if (!node) throw new Error('a node that had some keys is no primary any more');
          return (await open(node)).sendCommand([name, ...args]);
        },
      })),
    ownConnection: async (slot, over, lost) => {
      const node = client.slots[slot]?.master;
      if (!node) throw new Error('the client knows no node for this key');
      return connectionOver(await open(node), over, lost, client._keyPrefix);
    },
    listen: (channel, heard, lost) => {
      // Every node passes on what is published on any. The next try goes to another node, since this one may be dead.
      turn = (turn ?? slotOf(channel)) + 1;
      const node = client.masters[turn % client.masters.length];
      return listenLater(node ? open(node) : Promise.reject(new Error('the client knows no node')), (found) =>
        listenOver(found, channel, heard, lost),
      );
    },
    ...(typeof client.sSubscribe === 'function' && {
      listenAt: (slot, channel, heard, lost) => {
        const node = client.slots[slot]?.master;
        return listenLater(
          node ? open(node) : Promise.reject(new Error('the client knows no node for this key')),
          (found) => listenOver(found, channel, heard, lost, true),
        );
      },
    }),
  };
}

/** Listens over a client that is still being opened. */
function listenLater(client: Promise<NodeRedisLike>, listen: (client: NodeRedisLike) => Listening): Listening {
  let listening: Listening | undefined;
  let over = false;
  return {
    ready: client.then(async (found) => {
      if (over) return;
      listening = listen(found);
      await listening.ready;
    }),
    hangUp() {
      over = true;
      listening?.hangUp();
    },
  };
}
