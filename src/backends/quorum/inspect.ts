import {
  type Finding,
  inNoContext,
  isExclusive,
  type Listing,
  type QueueEntry,
  reasonOf,
  withLimit,
} from '../../core/index.ts';
import type { Node, QuorumContext } from './node.ts';
import type { NodeClaims } from './node-claims.ts';

/** How long a node may take for one request, ms. Core waits longer for the progress of a listing, so a listing succeeds although one node hangs. */
const REQUEST_TIMEOUT_MS = 4_000;

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
  for (const { entry } of await list(context, prefix, { exact, progress: goesOn })) yield entry;
}

export async function evict(context: QuorumContext, key: string, token: bigint): Promise<boolean> {
  const { nodes, majority } = context;
  const polls = await list(context, key, { exact: true });
  const poll = polls.find(({ entry }) => entry.key === key && entry.token === token);
  if (!poll) return false;
  const evicted = await Promise.all(
    poll.tokens.map((at, i) =>
      at === undefined ? false : nodes[i]!.evict(key, at, REQUEST_TIMEOUT_MS).catch(() => undefined),
    ),
  );
  const known = evicted.filter(Boolean).length;
  if (known < majority && known + evicted.filter((each) => each === undefined).length >= majority)
    throw new Error('too few nodes said whether they evicted it');
  return known >= majority;
}

/**
 * Watches the votes of a hold. Calls `wake` when the nodes that have reported no change are no majority. An eviction does not
 * reach all nodes at once. If the first report called `wake`, the renewal would still find a majority, and would take the lost vote again.
 * A vote that a node gives again has another id, so it needs another watch.
 */
export async function watchHold(
  { nodes, majority, clock }: QuorumContext,
  claims: NodeClaims,
  wake: () => void,
  age: number,
): Promise<AsyncDisposable> {
  const woken = new Set<number>();
  const watches: Promise<AsyncDisposable | undefined>[] = [];
  const end = async (i: number): Promise<void> => (await watches[i])?.[Symbol.asyncDispose]();
  const watch = (i: number, sentAgo: number): void => {
    end(i).catch(() => {});
    woken.delete(i);
    const part = claims.at(i);
    const note = (): void => {
      if (claims.at(i) !== part || woken.add(i).size <= nodes.length - majority) return;
      woken.clear();
      wake();
    };
    const set = async () => nodes[i]!.backend.watchHold?.(part.current, note, sentAgo);
    watches[i] = inNoContext(set).catch(() => undefined);
  };
  const watchAgain = (i: number): void => watch(i, claims.within);
  for (const i of nodes.keys()) watch(i, age);
  claims.onVote = watchAgain;
  // Core looks at the hold once it is watched. A node that hangs must not keep the others from that.
  await withLimit(Promise.all(watches), REQUEST_TIMEOUT_MS, Error, clock).catch(() => {});
  return {
    [Symbol.asyncDispose]: async () => {
      if (claims.onVote === watchAgain) claims.onVote = undefined; // a later watch of this hold goes on
      await Promise.allSettled([...nodes.keys()].map(end));
    },
  };
}

async function list({ nodes, majority, fenced }: QuorumContext, prefix: string, how: Listing): Promise<Poll[]> {
  const asked = nodes.map((node) => node.list(prefix, how, REQUEST_TIMEOUT_MS).catch(() => undefined));
  const lists = await Promise.all(asked);
  const answered = lists.filter((each) => each !== undefined).length;
  if (answered < majority)
    throw new Error(`${answered} of ${nodes.length} nodes listed their locks, ${majority} are needed`);
  return pollsOf(lists, majority, fenced);
}

/** One claim, joined from the listings of the nodes. */
export interface Poll {
  readonly entry: QueueEntry;
  /** The token that each node gave the claim; undefined if the node does not have the claim. */
  readonly tokens: readonly (bigint | undefined)[];
}

/** `<tag> <label>`: how a quorum writes a claim's label at its nodes. */
const LABEL = /^([0-9a-f]{15}) (.*)$/s;

/** Joins the lists of the nodes into the claims that a majority of all nodes admits. A list is undefined if its node did not answer. */
export function pollsOf(
  lists: readonly (readonly QueueEntry[] | undefined)[],
  majority: number,
  fenced: boolean,
): Poll[] {
  const found = new Map<string, { tag: string; label: string; seen: (QueueEntry | undefined)[] }>();
  for (const [i, list] of lists.entries()) {
    for (const entry of list ?? []) {
      const [, tag, label] = LABEL.exec(entry.label) ?? [];
      if (!entry.held || tag === undefined || label === undefined) continue;
      const name = `${tag} ${entry.key}`;
      const claim = found.get(name) ?? { tag, label, seen: lists.map(() => undefined) };
      claim.seen[i] = entry;
      found.set(name, claim);
    }
  }
  const positions = new Map<string, number>();
  return [...found.values()].flatMap(({ tag, label, seen }) => {
    const votes = seen.filter((entry) => entry !== undefined);
    if (votes.length < majority) return [];
    const [first] = votes as [QueueEntry, ...QueueEntry[]];
    const position = positions.get(first.key) ?? 0;
    positions.set(first.key, position + 1);
    const remaining = votes.map((each) => each.remaining).sort((a, b) => b - a)[majority - 1]!;
    const numbered = fenced && isExclusive(first);
    const tokens = votes.map((each) => each.token);
    const token = numbered ? mostCommon(tokens) : BigInt(`0x${tag}`);
    const held = !numbered || isAgreed(tokens, majority);
    const entry = { ...first, held, label, position, token, remaining };
    return [{ entry, tokens: seen.map((each) => each?.token) }];
  });
}

/** The largest number of tokens that one hold can have. */
const MAX_TOKEN_COUNT = 1_024n;

/**
 * True if a majority gave the same token, or if all tokens can be of one hold: a node that lost its vote and gave it again shows the
 * last token of the hold. Otherwise the ballot is still under way, and the claim may never become a hold.
 */
function isAgreed(tokens: readonly bigint[], majority: number): boolean {
  const sorted = [...tokens].sort((a, b) => (a < b ? -1 : 1));
  const same = mostCommon(tokens);
  return sorted.at(-1)! - sorted[0]! < MAX_TOKEN_COUNT || tokens.filter((token) => token === same).length >= majority;
}

/** Gives the most common token. A vote with another token came too late to count, or replaced a lost vote. */
function mostCommon(tokens: readonly bigint[]): bigint {
  const counts = new Map<bigint, number>();
  for (const token of tokens) counts.set(token, (counts.get(token) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a)[0]![0];
}

/** Gives the findings of each node, with the number of the node, and the findings about the quorum as a whole. */
export async function findings(nodes: readonly Node[]): Promise<Finding[]> {
  const found = await Promise.all(nodes.map((node) => nodeFindings(node)));
  return [...(nodes.length % 2 === 0 ? [EVEN] : []), ...found.flat()];
}

const EVEN: Finding = {
  severity: 'info',
  code: 'even-nodes',
  message: 'the number of nodes is even: it survives no more losses than with one node less',
  advice: 'use three or five nodes',
};

async function nodeFindings(node: Node): Promise<Finding[]> {
  const titled = (finding: Finding): Finding => ({ ...finding, message: `${node.title}: ${finding.message}` });
  try {
    return (await node.check(REQUEST_TIMEOUT_MS)).map(titled);
  } catch (error) {
    const advice = 'bring it back: one loss less can be survived until then';
    return [titled({ severity: 'danger', code: 'node-unavailable', message: reasonOf(error), advice })];
  }
}
