import { mostOf } from '../../core/contract/extremes.ts';
/** What was found when a node was looked at. Times are ms by our clock. */
export interface Looked {
  /** '' where it names none: then it always counts. */
  readonly run: string;
  /** The latest that this run may have begun. */
  readonly since: number;
  /** It can keep notes: what it does not remember was not, or it has lost its data. */
  readonly remembers: boolean;
  /** The last run of which its votes are known to have counted. */
  readonly marked: string | undefined;
  /** The runs of all nodes when they were new, as it was told then: since then their votes have counted. */
  readonly born: readonly string[];
  /** That run kept everything that it acknowledged, and this one is of its data. */
  readonly kept: boolean;
  /** The longest lease that it remembers, ms; 0 where it remembers none. */
  readonly longest: number;
  /** This process has known another run of it. */
  readonly restarted: boolean;
}

/** What all nodes have in common. */
export interface QuorumBounds {
  readonly majority: number;
  /** The longest lease there may be, ms. */
  readonly maxTtl: number;
  readonly drift: number;
}

/**
 * Until when a node does not count, since it may have forgotten votes of before it started: the longest lease it may have
 * voted for, from then on. What that was the others remember: whoever counts a vote has the node write down its lease first,
 * so any majority's leases are known to as many nodes as meet every majority. Where fewer of them remember, it may have been
 * `maxTtl`. Where nobody remembers anything, and all were asked, the nodes are new, and nothing was ever voted for.
 */
export function restsUntil(
  node: Looked,
  all: readonly (Looked | undefined)[],
  now: number,
  { majority, maxTtl, drift }: QuorumBounds,
): number {
  if (node.marked === node.run || node.kept) return Number.NEGATIVE_INFINITY;
  if (all.some((each) => each?.born.includes(node.run))) return Number.NEGATIVE_INFINITY;
  const rest = (lease: number): number => lease * (1 + drift) + 2;
  const known = all.filter((each) => each !== undefined);
  if (areNew(all) && !node.restarted) return Number.NEGATIVE_INFINITY;
  // One that names no run always counts, so what it remembers counts as well.
  const witnesses = known.filter(
    ({ run, remembers, marked, since }) =>
      remembers && (run === '' || marked !== undefined || since + rest(maxTtl) <= now),
  );
  const enough = witnesses.length >= all.length - majority + 1;
  return node.since + rest(enough ? mostOf(known.map(({ longest }) => longest)) : maxTtl);
}

/** Nobody remembers anything, and all were asked: nothing was ever voted for. */
export function areNew(all: readonly (Looked | undefined)[]): boolean {
  return all.every((each) => each && each.longest === 0 && (each.run === '' || each.marked === undefined));
}

/** As far as they were asked, they are new; that nothing was ever voted for is certain when all have been asked. */
export function seemNew(all: readonly (Looked | undefined)[]): boolean {
  return areNew(all.filter((each) => each !== undefined));
}
