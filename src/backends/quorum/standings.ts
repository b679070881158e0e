import { isExclusive } from '../../core/contract/admission.ts';
import type { Standing } from '../../core/contract/backend.ts';

/** One claim, as the nodes that admit it show it. */
export interface Poll {
  readonly standing: Standing;
  /** The ticket each node gave it; undefined where it has none. */
  readonly tickets: readonly (bigint | undefined)[];
}

/** `<tag> <label>`: how a quorum writes a claim's label at its nodes. */
const LABEL = /^([0-9a-f]{15}) (.*)$/s;

/** What the nodes list, put together: whoever a majority of all nodes admits. A list that is missing is a node that is silent. */
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
    const held = !numbered || agreed(tickets, majority);
    return [
      {
        standing: { ...first, held, label, position, ticket, remaining },
        tickets: seen.map((standing) => standing?.ticket),
      },
    ];
  });
}

/** The most numbers that are one hold's. */
const LONGEST_SPAN = 1_024n;

/**
 * Whether a majority has one number, or as near as votes of one hold are: one that a node lost and gave anew has the last of its numbers.
 * Else the vote is under way, and its claim may never hold.
 */
function agreed(tickets: readonly bigint[], majority: number): boolean {
  const sorted = [...tickets].sort((a, b) => (a < b ? -1 : 1));
  const same = mostCommon(tickets);
  return sorted.at(-1)! - sorted[0]! < LONGEST_SPAN || tickets.filter((ticket) => ticket === same).length >= majority;
}

/** The number that a majority agreed on: others come of votes that were too late to count. */
function mostCommon(tickets: readonly bigint[]): bigint {
  const counts = new Map<bigint, number>();
  for (const ticket of tickets) counts.set(ticket, (counts.get(ticket) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a)[0]![0];
}
