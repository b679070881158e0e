import { Redis } from 'ioredis';
import type { JavaPeer } from '../../kit/java.ts';
import { startWorker, type WorkerProcess } from '../../kit/processes.ts';
import { startRedis } from '../../kit/redis.ts';
import type { NodeCalls } from './node.worker.ts';

/** The sections of a process, and the longest time that it waited for one, ms. */
export interface Served {
  readonly sections: number;
  readonly longest: number;
}

export interface Race {
  readonly java: readonly Served[];
  readonly node: readonly Served[];
  /** How often a process was inside beside another one. */
  readonly overlaps: number;
  /** The tokens of all sections in the order in which the sections were. A fair lock of Redisson has none. */
  readonly tokens: readonly bigint[];
}

/** The option of ours, and what it is in Java: an `RFencedLock` or an `RFairLock`. */
export type Kind = 'fenced' | 'fair';

/** ms that a race may take beside its time: the last one who waits, and connections. */
const SLACK_MS = 60_000;

export const startNode = (): Promise<WorkerProcess<NodeCalls>> =>
  startWorker(new URL('node.worker.ts', import.meta.url));

/**
 * Java and Node.js processes want one lock for `ms`. A server that has nothing to do with it is the referee of all sections.
 * @param url of the server with the lock @param nodes the number of processes of ours
 */
export async function raceOf(
  peers: readonly JavaPeer[],
  nodes: number,
  url: string,
  ms: number,
  kind: Kind,
): Promise<Race> {
  await using stack = new AsyncDisposableStack();
  const referee = stack.use(await startRedis());
  const ours = await Promise.all(Array.from({ length: nodes }, async () => stack.use(await startNode())));
  const address = `${url.replace('redis:', 'redis+redisson:')}?${kind}=true`;
  const ofJava = peers.map(async (peer) => {
    const answer = await peer.ask(`r race ${kind} race-${kind} ${ms} ${referee.url}`, ms + SLACK_MS);
    return answer.split(' ').map(Number) as [number, number];
  });
  const ofNode = ours.map((worker) => worker.call('race', address, `race-${kind}`, ms, referee.port));
  const all = await Promise.all([...ofJava, ...ofNode]);
  const served = all.map(([sections, longest]): Served => ({ sections, longest }));
  const redis = new Redis(referee.port);
  const [overlaps, tokens] = await Promise.all([redis.get('overlaps'), redis.lrange('tokens', 0, -1)]);
  redis.disconnect();
  return {
    java: served.slice(0, peers.length),
    node: served.slice(peers.length),
    overlaps: Number(overlaps),
    tokens: tokens.map(BigInt),
  };
}

/** Whether each token is above the one before it. */
export const isOneOrder = (tokens: readonly bigint[]): boolean =>
  tokens.every((token, i) => i === 0 || token > tokens[i - 1]!);
