import { isExclusive } from '../../core/contract/admission.ts';
import type { Standing } from '../../core/contract/backend.ts';

/** One claim, as the nodes that admit it list it. */
export interface Poll {
  readonly standing: Standing;
  /** The ticket that each node gave the claim; undefined if the node does not have the claim. */
  readonly tickets: readonly (bigint | undefined)[];
}

/** `<tag> <label>`: how a quorum writes a claim's label at its nodes. */
const LABEL = /^([0-9a-f]{15}) (.*)$/s;

/** Joins the lists of the nodes into the claims that a majority of all nodes admits. A missing list stands for a silent node. */
export function standings(
  lists: readonly (readonly Standing[] | undefined)[],
  majority: number,
  fenced: boolean,
): Poll[] {
  const found = new Map<string, { tag: string; label: string; seen: (Standing | undefined)[] }>();
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
    const [first] = votes as [Standing, ...Standing[]];
    const position = positions.get(first.key) ?? 0;
    positions.set(first.key, position + 1);
    const remaining = votes.map((each) => each.remaining).sort((a, b) => b - a)[majority - 1]!;
    const numbered = fenced && isExclusive(first);
    const tickets = votes.map((each) => each.ticket);
    const ticket = numbered ? mostCommon(tickets) : BigInt(`0x${tag}`);
    const held = !numbered || isAgreed(tickets, majority);
    return [
      {
        standing: { ...first, held, label, position, ticket, remaining },
        tickets: seen.map((standing) => standing?.ticket),
      },
    ];
  });
}

/** The largest number of tickets that one hold can have. */
const LONGEST_SPAN = 1_024n;

/**
 * True if a majority gave the same ticket, or all tickets are as close as those of one hold: a node that lost its vote and granted it
 * again shows the last ticket of the hold. Otherwise the ballot is still under way, and the claim may never become a hold.
 */
function isAgreed(tickets: readonly bigint[], majority: number): boolean {
  const sorted = [...tickets].sort((a, b) => (a < b ? -1 : 1));
  const same = mostCommon(tickets);
  return sorted.at(-1)! - sorted[0]! < LONGEST_SPAN || tickets.filter((ticket) => ticket === same).length >= majority;
}

/** Gives the ticket that a majority agreed on. Other tickets come from votes that were too late to count. */
function mostCommon(tickets: readonly bigint[]): bigint {
  const counts = new Map<bigint, number>();
  for (const ticket of tickets) counts.set(ticket, (counts.get(ticket) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a)[0]![0];
}
