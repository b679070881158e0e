import type { Clock } from '../../core/index.ts';
import { type Admitted, REREAD_AFTER_MS, type Refused, verdictOn } from '../shared/queue-verdict.ts';
import { type ClaimNode, sortedQueue } from './names.ts';
import { caughtUp, list, read, stat } from './nodes.ts';
import type { ZooKeeperConnection } from './wire/connection.ts';
import { ConnectionLost } from './wire/errors.ts';
import { type NodeChildren, sync } from './wire/operations.ts';
import type { Watcher } from './wire/requests.ts';

/** A node of ours in a queue. It is the place, and later the hold. */
export interface OwnNode {
  readonly session: bigint;
  readonly path: string;
  readonly name: string;
  readonly token: bigint;
  /** Made with the first grant: only a hold can be lost. */
  lost?: AbortController;
  /** A time before its creation was sent, by the clock. Set by the first answered attempt. */
  made?: number;
  /** When the last answered attempt began. */
  asked: number;
  /** Whether the next in the queue was told of this admission. */
  relay?: 'owed' | 'sent';
  /** The connection on which the node was seen and is watched. While it lives and tells nothing, the node is there. */
  seenOn?: ZooKeeperConnection;
  /** Why it waits, by the last listing of its queue. */
  refusal?: {
    readonly verdict: Refused<ClaimNode>;
    /** The transaction that had changed the queue last. */
    readonly asOf: bigint;
    /** The time of that listing, by the clock. */
    readonly listed: number;
  };
  /** The watch that tells when that changes. */
  guard?: Watcher & { readonly connection: ZooKeeperConnection };
}

/** What a listing of its queue means for a place. The place remembers a refusal. */
export function verdictFrom(place: OwnNode, { names, asOf }: NodeChildren, now: number): Admitted | Refused<ClaimNode> {
  const queue = sortedQueue(names);
  const at = queue.findIndex(({ name }) => name === place.name);
  if (at < 0) throw new ConnectionLost('the node is not in its own queue');
  const verdict = verdictOn(queue, at);
  place.refusal = verdict.admitted ? undefined : { verdict, asOf, listed: now };
  return verdict;
}

/**
 * Whether a refused place is still refused. It asks for its own node and for the obstacle only, so the cost does not grow with the
 * queue. False also means that this is not certain; the queue must be listed then.
 */
export async function stillRefused(
  connection: ZooKeeperConnection,
  parent: string,
  place: OwnNode,
  now: number,
): Promise<boolean> {
  const { refusal, guard } = place;
  if (!refusal) return false;
  const { behind, relayed } = refusal.verdict;
  // A watched obstacle tells by itself, as soon as the server that is asked knows of a change. Then it is no harm if the leader lags.
  const isWatched = guard?.connection === connection && !guard.isOver?.();
  const byQueue = behind === undefined || (relayed && (!isWatched || now - refusal.listed >= REREAD_AFTER_MS));
  const [, own, obstacle, queue] = await Promise.all([
    isWatched ? connection.request(sync) : caughtUp(connection, parent),
    stat(connection, place.path),
    behind && stat(connection, `${parent}/${behind.name}`),
    byQueue ? stat(connection, parent) : undefined,
  ]);
  if (place.refusal !== refusal || own?.ephemeralOwner !== place.session) return false;
  if (behind && (!obstacle || (relayed && obstacle.version > 0))) return false;
  return !byQueue || queue?.pzxid === refusal.asOf;
}

/** Sets the one watch that a refused place needs now. Gives the admission, if the place is admitted after all. */
export async function watchObstacle(
  connection: ZooKeeperConnection,
  parent: string,
  place: OwnNode,
  notify: Watcher,
  clock: Clock,
): Promise<Admitted | undefined> {
  const notifyOnce = (): void => {
    if (place.guard === watcher) place.guard = undefined;
    place.refusal = undefined;
    notify();
  };
  const watcher = Object.assign(notifyOnce, { connection, isOver: () => notify.isOver?.() === true });
  place.guard = watcher;
  for (let written: string | undefined; ; ) {
    const verdict = place.refusal?.verdict ?? verdictFrom(place, await list(connection, parent), clock.now());
    if (verdict.admitted) return verdict;
    const { behind, relayed } = verdict;
    if (!behind) {
      const found = verdictFrom(place, await list(connection, parent, watcher), clock.now());
      if (found.admitted) return found;
      if (!found.behind) return undefined;
      continue;
    }
    const node = await read(connection, `${parent}/${behind.name}`, watcher);
    // A written permit has told of its admission, maybe before this watch. A listing after that misses nothing.
    if (node && (!relayed || node.stat.version === 0 || written === behind.name)) return undefined;
    written = node && behind.name;
    place.refusal = undefined;
  }
}
