import type { Seats } from '../core/admission.ts';
import { enclosingOf, type Lines, type WaitsClaim } from './claims.ts';

/**
 * Why one claim cannot go on before another one. `holder`: it waits for the end of this hold. `room`: for this hold, or for
 * others that share the room with it. `behind`: it stands behind this claim, which also waits. `inside`: this hold ends after
 * the claim that waits inside it.
 */
export interface WaitsEdge {
  /** The `id` of the claim that cannot go on. */
  readonly from: string;
  /** The `id` of the claim that it waits for. */
  readonly to: string;
  /** What kind of waiting that is. */
  readonly why: 'holder' | 'room' | 'behind' | 'inside';
}

/** Makes one edge for each claim in a line of equal claims: each goes on only after the one ahead, so one edge tells of all. */
export function edgesAmong({ lines, claims }: Lines, among: ReadonlySet<string>): WaitsEdge[] {
  const edges: WaitsEdge[] = [];
  for (const line of lines) edges.push(...edgesOf(line.filter(({ id }) => among.has(id))));
  for (const id of among) {
    const claim = claims.get(id);
    for (const hold of claim ? enclosingOf(claim) : []) {
      if (among.has(hold) && claims.get(hold)?.held) edges.push({ from: hold, to: id, why: 'inside' });
    }
  }
  return edges;
}

function* edgesOf(line: readonly WaitsClaim[]): Iterable<WaitsEdge> {
  const holders = line.filter(({ held }) => held);
  let previous: WaitsClaim | undefined;
  for (const claim of line) {
    if (claim.held) continue;
    const from = claim.id;
    if (previous) yield { from, to: previous.id, why: 'behind' };
    if (!previous || previous.take !== claim.take || previous.of !== claim.of) {
      for (const { holder, why } of inTheWay(claim, holders)) yield { from, to: holder.id, why };
    }
    previous = claim;
  }
}

/** The holders whose end brings a waiter nearer to its turn. */
function* inTheWay(
  claim: Seats,
  holders: readonly WaitsClaim[],
): Iterable<{ readonly holder: WaitsClaim; readonly why: 'holder' | 'room' }> {
  const conflicts = (holder: Seats): boolean => holder.take + claim.take > Math.min(holder.of, claim.of);
  const beside = holders.filter((holder) => !conflicts(holder));
  const taken = beside.reduce((sum, { take }) => sum + take, claim.take);
  const full = taken > beside.reduce((room, { of }) => Math.min(room, of), claim.of);
  for (const holder of holders) {
    if (conflicts(holder)) yield { holder, why: 'holder' };
    else if (full) yield { holder, why: 'room' };
  }
}
