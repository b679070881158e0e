import type { Seats } from '../core/admission.ts';
import { enclosingOf, type Lines, type WaitsClaim } from './claims.ts';

/**
 * Why one claim cannot go on before another has:
 * `holder`: it waits for this hold to end. `room`: for this one, or for others that take up room with it. `behind`: it stands behind this
 * one, which waits too. `inside`: this hold ends after what waits inside of it.
 */
export interface WaitsEdge {
  /** The `id` of the claim that cannot go on. */
  readonly from: string;
  /** The `id` of the claim that it waits for. */
  readonly to: string;
  /** What kind of waiting that is. */
  readonly why: 'holder' | 'room' | 'behind' | 'inside';
}

/** Of a line of equal claims one each: whoever stands behind another goes on only when that one has been admitted, so one edge tells of all. */
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

/** The holders without whom a waiter would be nearer to its turn. */
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
