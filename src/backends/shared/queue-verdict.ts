import { ALL_UNITS, admitted, type Demand, isExclusive } from '../../core/index.ts';

/** A claim that watches an admitted permit reads the queue again after this time, ms, if the queue has changed. */
export const REREAD_AFTER_MS = 10_000;

/** `relay`: the next claim in the queue waits to be notified of this admission. */
export interface Admitted {
  readonly admitted: true;
  readonly relay: boolean;
}

export interface Refused<M> {
  readonly admitted: false;
  readonly ahead: number;
  /** The claim to watch; undefined means the whole queue. */
  readonly behind?: M;
  /** Whether the watched claim also notifies when it is admitted, and not only when it leaves. */
  readonly relayed: boolean;
}

/**
 * Decides whether the claim at `at` is admitted, or else what it watches, for an engine whose waiters watch each other. As few claims as
 * possible watch the same thing:
 *
 * - An exclusive claim needs all claims ahead to leave. It watches its predecessor, which leaves last.
 * - A reader needs all exclusive claims ahead to leave. It watches the nearest of them.
 * - Any holder may make room for a permit. So the first waiting permit watches the whole queue. Each later permit watches its predecessor:
 *   a permit that is admitted notifies the next one.
 */
export function verdictOn<M extends Demand>(queue: readonly M[], at: number): Admitted | Refused<M> {
  const mine = queue[at]!;
  const inside = admitted(queue);
  if (at < inside) {
    const next = queue[at + 1];
    return { admitted: true, relay: next !== undefined && !isExclusive(mine) && isPermit(next) };
  }
  const behind = obstacle(queue, at, inside);
  const relayed = behind !== undefined && !isExclusive(mine) && !isExclusive(behind);
  return { admitted: false, ahead: at, behind, relayed };
}

function obstacle<M extends Demand>(queue: readonly M[], at: number, inside: number): M | undefined {
  const mine = queue[at]!;
  const predecessor = queue[at - 1]!;
  if (isExclusive(mine) || isExclusive(predecessor)) return predecessor;
  if (mine.capacity === ALL_UNITS) return queue.slice(0, at).findLast(isExclusive);
  return at > inside ? predecessor : undefined;
}

const isPermit = (claim: Demand): boolean => !isExclusive(claim) && claim.capacity !== ALL_UNITS;
