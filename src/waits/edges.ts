import type { Demand } from '../core/index.ts';
import { type ClaimQueues, enclosingOf, type WaitsClaim } from './claims.ts';

/**
 * One claim, `from`, cannot go on before another one, `to`. `holder`: `from` waits for the end of the hold `to`. `room`: `from` waits until the hold
 * `to`, or a hold beside it, gives units back. `behind`: `to` waits ahead of `from`. `inside`: `from` is a hold, and `to` waits inside it.
 */
export interface WaitsEdge {
  /** The `id` of the claim that cannot go on. */
  readonly from: string;
  /** The `id` of the claim that it waits for. */
  readonly to: string;
  /** The kind of waiting. */
  readonly why: 'holder' | 'room' | 'behind' | 'inside';
}

/**
 * The edges among some claims. A waiter has an edge to the waiter ahead of it, and to each holder in its way to which no waiter ahead has an edge.
 * If a waiter ahead has one, the path over that waiter is enough. So a queue has no more edges than claims. Each hold around a wait adds an edge.
 */
export function edgesAmong({ queues, claims }: ClaimQueues, among: ReadonlySet<string>): WaitsEdge[] {
  const edges: WaitsEdge[] = [];
  for (const queue of queues) {
    for (const edge of edgesOf(queue.filter(({ id }) => among.has(id)))) edges.push(edge);
  }
  for (const id of among) {
    const claim = claims.get(id);
    for (const hold of claim ? enclosingOf(claim) : []) {
      if (among.has(hold) && claims.get(hold)?.held) edges.push({ from: hold, to: id, why: 'inside' });
    }
  }
  return edges;
}

/** Holders with equal units and capacity: how many, and the ids of those to which no edge leads yet. */
interface Kind extends Demand {
  count: number;
  free: string[];
}

function* edgesOf(queue: readonly WaitsClaim[]): Iterable<WaitsEdge> {
  const kinds = kindsOf(queue.filter(({ held }) => held));
  let previous: WaitsClaim | undefined;
  for (const claim of queue) {
    if (claim.held) continue;
    const from = claim.id;
    if (previous) yield { from, to: previous.id, why: 'behind' };
    if (!previous || previous.units !== claim.units || previous.capacity !== claim.capacity) {
      for (const { kind, why } of inTheWay(claim, kinds)) for (const to of kind.free.splice(0)) yield { from, to, why };
    }
    previous = claim;
  }
}

function kindsOf(holders: readonly WaitsClaim[]): readonly Kind[] {
  const kinds = new Map<string, Kind>();
  for (const { id, units, capacity } of holders) {
    const name = `${units} ${capacity}`;
    const kind = kinds.get(name) ?? { units, capacity, count: 0, free: [] };
    kinds.set(name, kind);
    kind.count++;
    kind.free.push(id);
  }
  return [...kinds.values()];
}

/** The holders whose end brings a waiter nearer to its turn. */
function* inTheWay(
  claim: Demand,
  kinds: readonly Kind[],
): Iterable<{ readonly kind: Kind; readonly why: 'holder' | 'room' }> {
  const conflicts = (holder: Demand): boolean => holder.units + claim.units > Math.min(holder.capacity, claim.capacity);
  const beside = kinds.filter((kind) => !conflicts(kind));
  const taken = beside.reduce((sum, { units, count }) => sum + units * count, claim.units);
  const full = taken > beside.reduce((room, { capacity }) => Math.min(room, capacity), claim.capacity);
  for (const kind of kinds) {
    if (conflicts(kind)) yield { kind, why: 'holder' };
    else if (full) yield { kind, why: 'room' };
  }
}
