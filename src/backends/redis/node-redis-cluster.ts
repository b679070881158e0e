import { lineOver, listenOver, type NodeRedisLike } from './node-redis.ts';
import type { Listening, Port } from './port.ts';
import { slotOf } from './slot.ts';

interface Member {
  readonly address: string;
}

/** What is used of a cluster client of node-redis. */
export interface NodeRedisClusterLike {
  readonly isOpen: boolean;
  readonly slots: readonly ({ readonly master: Member } | undefined)[];
  readonly masters: readonly Member[];
  nodeClient(node: never): Promise<NodeRedisLike>;
  sendCommand(firstKey: string | undefined, isReadonly: boolean, args: string[]): Promise<unknown>;
  duplicate(): unknown;
}

export function overNodeRedisCluster(client: NodeRedisClusterLike): Port {
  let turn: number | undefined;
  const run = (name: string, script: string, keys: readonly string[], args: readonly string[]): Promise<unknown> =>
    client.sendCommand(keys[0], false, [name, script, `${keys.length}`, ...keys, ...args]);
  const open = (node: Member): Promise<NodeRedisLike> => client.nodeClient(node as never);
  return {
    get ended() {
      return !client.isOpen;
    },
    keyPrefix: '',
    cluster: true,
    nodeOf: (slot) => client.slots[slot]?.master.address ?? '',
    evalSha: (sha1, keys, args) => run('EVALSHA', sha1, keys, args),
    eval: (text, keys, args) => run('EVAL', text, keys, args),
    command: (name, ...args) => client.sendCommand(args[0], false, [name, ...args]),
    nodes: () =>
      client.masters.map((node) => ({
        command: async (name, ...args) => (await open(node)).sendCommand([name, ...args]),
      })),
    line: async (slot) => {
      const node = client.slots[slot]?.master;
      if (!node) throw new Error('the client knows no node for this key');
      return lineOver(await open(node));
    },
    listen: (channel, heard, lost) => {
      // Every node hears what is published on any. The next try goes to another one: this one may be dead.
      turn = (turn ?? slotOf(channel)) + 1;
      const node = client.masters[turn % client.masters.length];
      return later(node ? open(node) : Promise.reject(new Error('the client knows no node')), (found) =>
        listenOver(found, channel, heard, lost),
      );
    },
  };
}

/** Listens over a client that is not there yet. */
function later(client: Promise<NodeRedisLike>, listen: (client: NodeRedisLike) => Listening): Listening {
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
