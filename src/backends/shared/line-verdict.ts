import { ALL_UNITS, admitted, isExclusive, type Units } from '../../core/index.ts';

/** After this time a claim that watches an admitted permit reads the line again, if the line has changed. ms. */
export const UNTOLD = 10_000;

/** `relay`: the next claim in the line waits for news of this admission. */
export interface Admitted {
  readonly admitted: true;
  readonly relay: boolean;
}

export interface Refused<M> {
  readonly admitted: false;
  readonly ahead: number;
  /** The claim to watch; undefined means the whole line. */
  readonly behind?: M;
  /** Whether that claim also tells when it is admitted, and not only when it leaves. */
  readonly relayed: boolean;
}

/**
 * Decides what a line means for its claim at `at`, for an engine whose waiters watch each other. As few claims as possible watch one thing:
 *
 * - An exclusive claim needs everybody ahead to leave. It watches its predecessor, which leaves last.
 * - A reader needs every exclusive claim ahead to leave. It watches the nearest one.
 * - Any holder may make room for a permit. So the first waiting permit watches the whole line. Each later one watches its
 *   predecessor, which tells when it is admitted.
 */
export function verdictOn<M extends Units>(line: readonly M[], at: number): Admitted | Refused<M> {
  const mine = line[at]!;
  const inside = admitted(line);
  if (at < inside) {
    const next = line[at + 1];
    return { admitted: true, relay: next !== undefined && !isExclusive(mine) && isPermit(next) };
  }
  const behind = obstacle(line, at, inside);
  const relayed = behind !== undefined && !isExclusive(mine) && !isExclusive(behind);
  return { admitted: false, ahead: at, behind, relayed };
}

function obstacle<M extends Units>(line: readonly M[], at: number, inside: number): M | undefined {
  const mine = line[at]!;
  const predecessor = line[at - 1]!;
  if (isExclusive(mine) || isExclusive(predecessor)) return predecessor;
  if (mine.capacity === ALL_UNITS) return line.slice(0, at).findLast(isExclusive);
  return at > inside ? predecessor : undefined;
}

const isPermit = (seats: Units): boolean => !isExclusive(seats) && seats.capacity !== ALL_UNITS;
