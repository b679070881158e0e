import type { Listing, QueueEntry } from '../../core/contract/backend.ts';
import type { QuorumContext } from './context.ts';
import { type Poll, standings } from './standings.ts';

/** The longest time a node may take for one request of a listing, ms. Core waits longer for progress, so one node may hang. */
export const LISTING = 4_000;

export async function* inspect(
  context: QuorumContext,
  prefix: string,
  { exact = false, progress }: Listing = {},
): AsyncIterable<QueueEntry> {
  let most = 0;
  const goesOn = (looked: number): void => {
    most = Math.max(most, looked);
    progress?.(most);
  };
  for (const { standing } of await list(context, prefix, { exact, progress: goesOn })) yield standing;
}

export async function evict(context: QuorumContext, key: string, token: bigint): Promise<boolean> {
  const { nodes, majority } = context;
  const polls = await list(context, key, { exact: true });
  const poll = polls.find(({ standing }) => standing.key === key && standing.token === token);
  if (!poll) return false;
  const evicted = await Promise.all(
    poll.tokens.map((at, i) => (at === undefined ? false : nodes[i]!.evict(key, at, LISTING).catch(() => false))),
  );
  return evicted.filter(Boolean).length >= majority;
}

async function list({ nodes, majority, fenced }: QuorumContext, prefix: string, how: Listing): Promise<Poll[]> {
  const lists = await Promise.all(nodes.map((node) => node.list(prefix, how, LISTING).catch(() => undefined)));
  const answered = lists.filter((each) => each !== undefined).length;
  if (answered < majority)
    throw new Error(`${answered} of ${nodes.length} nodes listed their locks, ${majority} are needed`);
  return standings(lists, majority, fenced);
}
