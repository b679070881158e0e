import { mostOf } from '../../core/contract/extremes.ts';
/** What a node showed when it was last read. Times are ms by the clock of this process. */
export interface NodeView {
  /** The run of the server; '' if the node names none, and then it always counts. */
  readonly run: string;
  /** The latest time at which this run may have begun. */
  readonly since: number;
  /** True if the node can keep notes. A note that it does not have was never written, or the node lost its data. */
  readonly remembers: boolean;
  /** The last run of this node whose votes are known to have counted. */
  readonly marked: string | undefined;
  /** The runs of all nodes when the quorum was new, as noted at that time. The votes of those runs count. */
  readonly born: readonly string[];
  /** True if the marked run lost no acknowledged write, and this run started from its data. */
  readonly kept: boolean;
  /** The longest lease that the node remembers, ms; 0 if it remembers none. */
  readonly longest: number;
  /** True if this process has seen an earlier run of this node. */
  readonly restarted: boolean;
}

/** The settings that all nodes share. */
export interface QuorumBounds {
  readonly majority: number;
  /** The longest lease there may be, ms. */
  readonly maxTtl: number;
  readonly drift: number;
}

/**
 * Gives the time until which a node does not count. A restarted node may have forgotten its votes, so it waits for the longest lease that
 * it may have voted for. The other nodes remember that lease: before a process counts a vote, it has the node write down the lease, so at
 * least one node of every majority knows it. If too few nodes remember, the lease may have been `maxTtl`. If all nodes were asked and none
 * remembers a lease, the nodes are new, and no vote was ever given.
 */
export function restsUntil(
  node: NodeView,
  all: readonly (NodeView | undefined)[],
  now: number,
  { majority, maxTtl, drift }: QuorumBounds,
): number {
  if (node.marked === node.run || node.kept) return Number.NEGATIVE_INFINITY;
  if (all.some((each) => each?.born.includes(node.run))) return Number.NEGATIVE_INFINITY;
  const rest = (lease: number): number => lease * (1 + drift) + 2;
  const known = all.filter((each) => each !== undefined);
  if (areNew(all) && !node.restarted) return Number.NEGATIVE_INFINITY;
  // A node that names no run always counts, so its notes count as well.
  const witnesses = known.filter(
    ({ run, remembers, marked, since }) =>
      remembers && (run === '' || marked !== undefined || since + rest(maxTtl) <= now),
  );
  const enough = witnesses.length >= all.length - majority + 1;
  return node.since + rest(enough ? mostOf(known.map(({ longest }) => longest)) : maxTtl);
}

/** True if all nodes were asked and none remembers a lease: no vote was ever given. */
export function areNew(all: readonly (NodeView | undefined)[]): boolean {
  return all.every((each) => each && each.longest === 0 && (each.run === '' || each.marked === undefined));
}

/** True if all nodes asked so far are new. It is certain that no vote was ever given only after all nodes were asked. */
export function seemNew(all: readonly (NodeView | undefined)[]): boolean {
  return areNew(all.filter((each) => each !== undefined));
}
