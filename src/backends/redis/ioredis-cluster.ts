import { connections } from './incarnation.ts';
import { connectionOver, type IoredisLike, listenOver } from './ioredis.ts';
import { SLOTS, slotOf } from './keys.ts';
import type { Port } from './port.ts';

/** The part of a Cluster of ioredis that holdfast uses. */
export interface IoredisClusterLike {
  readonly status: string;
  readonly options?: { readonly keyPrefix?: string | undefined };
  /** The servers of each slot, the primary first, as `host:port`. */
  readonly slots: readonly (readonly string[] | undefined)[];
  nodes(role: 'master'): IoredisLike[];
  evalsha(sha1: string, keys: number, ...keysAndArgs: string[]): Promise<unknown>;
  eval(script: string, keys: number, ...keysAndArgs: string[]): Promise<unknown>;
  call(command: string, ...args: string[]): Promise<unknown>;
  ssubscribe?: unknown;
  on(event: '-node', listener: () => void): unknown;
  off(event: '-node', listener: () => void): unknown;
}

export function overIoredisCluster(client: IoredisClusterLike): Port {
  let turn: number | undefined;
  const nodeNamed = (name: string | undefined): IoredisLike => {
    const node = client.nodes('master').find(({ options }) => `${options?.host}:${options?.port}` === name);
    if (!node) throw new Error('the client knows no node for some keys');
    return node;
  };
  return {
    get ended() {
      // If its owner closed it, 'close' follows 'end' (6.0), and a command that is sent then waits for ever.
      const closed = client.status === 'close' && (client as { manuallyClosing?: unknown }).manuallyClosing === true;
      return closed || client.status === 'end';
    },
    keyPrefix: client.options?.keyPrefix ?? '',
    cluster: true,
    nodeOf: (slot) => client.slots[slot]?.[0] ?? '',
    evalSha: (sha1, keys, args) => client.evalsha(sha1, keys.length, ...keys, ...args),
    eval: (text, keys, args) => client.eval(text, keys.length, ...keys, ...args),
    command: (name, keys, ...args) => client.call(name, ...keys, ...args),
    onResend: (again) => connections(client, again, '-node'),
    // The nodes are found by their slots: the client forgets a node as soon as its connection is lost.
    nodes: () => {
      const names = new Set(Array.from({ length: SLOTS }, (_, slot) => client.slots[slot]?.[0]));
      return [...names].map((name) => ({ command: async (act, ...args) => nodeNamed(name).call(act, ...args) }));
    },
    ownConnection: async (slot, over, lost) =>
      connectionOver(nodeNamed(client.slots[slot]?.[0]), over, lost, client.options?.keyPrefix),
    listen: (channel, heard, lost) => {
      // Every node passes on what is published on any. The next try goes to another node, since this one may be dead.
      const nodes = client.nodes('master');
      turn = (turn ?? slotOf(channel)) + 1;
      const node = nodes[turn % nodes.length];
      if (!node) return { ready: Promise.reject(new Error('the client knows no node')), hangUp() {} };
      return listenOver(node, channel, heard, lost);
    },
    ...(typeof client.ssubscribe === 'function' && {
      listenAt: (slot, channel, heard, lost) =>
        listenOver(nodeNamed(client.slots[slot]?.[0]), channel, heard, lost, true),
    }),
  };
}
