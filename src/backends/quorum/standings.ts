import { isExclusive } from '../../core/contract/admission.ts';
import type { QueueEntry } from '../../core/contract/backend.ts';

/** One claim, as the nodes that admit it list it. */
export interface Poll {
  readonly standing: QueueEntry;
  /** The token that each node gave the claim; undefined if the node does not have the claim. */
  readonly tokens: readonly (bigint | undefined)[];
}

/** `<tag> <label>`: how a quorum writes a claim's label at its nodes. */
const LABEL = /^([0-9a-f]{15}) (.*)$/s;

/** Joins the lists of the nodes into the claims that a majority of all nodes admits. A missing list stands for a silent node. */
export function standings(
  lists: readonly (readonly QueueEntry[] | undefined)[],
  majority: number,
  fenced: boolean,
): Poll[] {
  const found = new Map<string, { tag: string; label: string; seen: (QueueEntry | undefined)[] }>();
  for (const [i, list] of lists.entries()) {
    for (const standing of list ?? []) {
      const [, tag, label] = LABEL.exec(standing.label) ?? [];
      if (!standing.held || tag === undefined || label === undefined) continue;
      const name = `${tag} ${standing.key}`;
      const claim = found.get(name) ?? { tag, label, seen: lists.map(() => undefined) };
      claim.seen[i] = standing;
      found.set(name, claim);
    }
  }
  const positions = new Map<string, number>();
  return [...found.values()].flatMap(({ tag, label, seen }) => {
    const votes = seen.filter((standing) => standing !== undefined);
    if (votes.length < majority) return [];
    const [first] = votes as [QueueEntry, ...QueueEntry[]];
    const position = positions.get(first.key) ?? 0;
    positions.set(first.key, position + 1);
    const remaining = votes.map((each) => each.remaining).sort((a, b) => b - a)[majority - 1]!;
    const numbered = fenced && isExclusive(first);
    const tokens = votes.map((each) => each.token);
    const token = numbered ? mostCommon(tokens) : BigInt(`0x${tag}`);
    const held = !numbered || isAgreed(tokens, majority);
    return [
      {
        standing: { ...first, held, label, position, token, remaining },
        tokens: seen.map((standing) => standing?.token),
      },
    ];
  });
}

/** The largest number of tokens that one hold can have. */
const LONGEST_SPAN = 1_024n;

/**
 * True if a majority gave the same token, or all tokens are as close as those of one hold: a node that lost its vote and granted it
 * again shows the last token of the hold. Otherwise the ballot is still under way, and the claim may never become a hold.
 */
function isAgreed(tokens: readonly bigint[], majority: number): boolean {
  const sorted = [...tokens].sort((a, b) => (a < b ? -1 : 1));
  const same = mostCommon(tokens);
  return sorted.at(-1)! - sorted[0]! < LONGEST_SPAN || tokens.filter((token) => token === same).length >= majority;
}

/** Gives the token that a majority agreed on. Other tokens come from votes that were too late to count. */
function mostCommon(tokens: readonly bigint[]): bigint {
  const counts = new Map<bigint, number>();
  for (const token of tokens) counts.set(token, (counts.get(token) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a)[0]![0];
}
