import { lineOf } from './names.ts';
import { caughtUp, type Listing, list, read, stat } from './nodes.ts';
import type { Place } from './places.ts';
import { type Admitted, type Refused, type Verdict, verdictOn } from './verdict.ts';
import type { Connection } from './wire/connection.ts';
import { ConnectionLost } from './wire/errors.ts';
import { sync } from './wire/operations.ts';
import type { Watcher } from './wire/watches.ts';

/** Whoever watches for a permit's word that it was admitted looks at the line by itself after this, if the line has changed. ms. */
const UNTOLD = 10_000;

/** A refusal, and what it was read from. */
export interface Refusal {
  readonly verdict: Refused;
  /** The transaction that had changed the line last. */
  readonly asOf: bigint;
  /** By the clock. */
  readonly listed: number;
}

/** The watch on what stands in the way of a place. */
export interface Guard {
  readonly connection: Connection;
  /** Nobody would be told any more. */
  isOver(): boolean;
}

/** What a listing of its line means for a place; it remembers what stands in its way. */
export function judged(place: Place, { names, asOf }: Listing, now: number): Verdict {
  const verdict = verdictOn(lineOf(names), place.name);
  if (!verdict) throw new ConnectionLost('the node is not in its own line');
  place.refusal = verdict.admitted ? undefined : { verdict, asOf, listed: now };
  return verdict;
}

/**
 * Whether a place that was refused still is, by a look at itself and at what stands in its way: the cost does not grow with the
 * line. False also where that is not certain: then the line is to be listed.
 */
export async function stillRefused(
  connection: Connection,
  parent: string,
  place: Place,
  now: number,
): Promise<boolean> {
  const { refusal } = place;
  if (!refusal) return false;
  const { behind, relayed } = refusal.verdict;
  // What is watched tells by itself, as soon as the server asked knows of it: that the leader may lag costs nothing then.
  const watched = isWatched(place, connection);
  const byLine = behind === undefined || (relayed && (!watched || now - refusal.listed >= UNTOLD));
  const [, own, obstacle, line] = await Promise.all([
    watched ? connection.request(sync) : caughtUp(connection, parent),
    stat(connection, place.path),
    behind === undefined ? undefined : stat(connection, `${parent}/${behind}`),
    byLine ? stat(connection, parent) : undefined,
  ]);
  if (place.refusal !== refusal || own?.ephemeralOwner !== place.session) return false;
  if (behind !== undefined && (!obstacle || (relayed && obstacle.version > 0))) return false;
  return !byLine || line?.pzxid === refusal.asOf;
}

const isWatched = ({ guard }: Place, connection: Connection): boolean =>
  guard?.connection === connection && !guard.isOver();

/** Arms the one watch that a refused place needs now. Resolves when it is armed; with the admission where there is one. */
export async function watched(
  connection: Connection,
  parent: string,
  place: Place,
  tell: Watcher,
  now: () => number,
): Promise<Admitted | undefined> {
  const watcher = guarding(connection, place, tell);
  for (let written: string | undefined; ; ) {
    const verdict = place.refusal?.verdict ?? judged(place, await list(connection, parent), now());
    if (verdict.admitted) return verdict;
    const { behind, relayed } = verdict;
    if (behind === undefined) {
      const found = judged(place, await list(connection, parent, watcher), now());
      if (found.admitted) return found;
      if (found.behind === undefined) return undefined;
      continue;
    }
    const node = await read(connection, `${parent}/${behind}`, watcher);
    // A permit that was written has told of its admission, maybe before it was watched: who lists after that has missed nothing.
    if (node && (!relayed || node.stat.version === 0 || written === behind)) return undefined;
    written = node ? behind : undefined;
    place.refusal = undefined;
  }
}

function guarding(connection: Connection, place: Place, tell: Watcher): Watcher {
  const isOver = (): boolean => tell.isOver?.() === true;
  const guard: Guard = { connection, isOver };
  place.guard = guard;
  const told = (): void => {
    if (place.guard === guard) place.guard = undefined;
    place.refusal = undefined;
    tell();
  };
  return Object.assign(told, { isOver });
}
