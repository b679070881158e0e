import type { Clock } from '../../core/index.ts';
import { type Admitted, REREAD_AFTER_MS, type Refused, verdictOn } from '../shared/queue-verdict.ts';
import { type ClaimNode, sortedQueue } from './names.ts';
import { caughtUp, list, read, stat } from './nodes.ts';
import type { ZooKeeperConnection } from './wire/connection.ts';
import { ConnectionLost } from './wire/errors.ts';
import { type NodeChildren, sync } from './wire/operations.ts';
import type { Watcher } from './wire/requests.ts';

/** A node of this process in a queue. It is the place of a claim, and later the hold. */
export interface OwnNode {
  readonly session: bigint;
  readonly path: string;
  readonly name: string;
  readonly token: bigint;
  /** Aborted when the hold is lost. Made with the first grant. */
  lost?: AbortController;
  /** A time before the creation of the node was sent, by the clock. Set by the first answered attempt. */
  made?: number;
  /** When the last answered attempt began. */
  asked: number;
  /** Whether the node was written, to notify the next permit of this admission. */
  relay?: 'owed' | 'sent';
  /** The connection on which the node was seen and is watched. While that lives and the watch does not fire, the node is there. */
  seenOn?: ZooKeeperConnection;
  /** Why the claim waits, by the last listing of its queue. */
  refusal?: {
    readonly verdict: Refused<ClaimNode>;
    /** The last transaction in that listing that had changed the queue. */
    readonly asOf: bigint;
    /** The time of that listing, by the clock. */
    readonly listed: number;
  };
  /** The watch of what the claim waits for. */
  guard?: Watcher & { readonly connection: ZooKeeperConnection };
}

/** Decides what a listing of its queue means for a node. A refusal is remembered in `refusal`. */
export function verdictFrom(place: OwnNode, { names, asOf }: NodeChildren, now: number): Admitted | Refused<ClaimNode> {
  const queue = sortedQueue(names);
  const at = queue.findIndex(({ name }) => name === place.name);
  if (at < 0) throw new ConnectionLost('the node is not in its own queue');
  const verdict = verdictOn(queue, at);
  place.refusal = verdict.admitted ? undefined : { verdict, asOf, listed: now };
  return verdict;
}

/**
 * Whether a refused claim is surely still refused. It reads only its own node and its obstacle, so the cost does not grow with the queue.
 * If it returns false, the queue must be listed.
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
  // A watch fires as soon as this server knows of a change. So for a watched obstacle a `sync` is enough, even if the leader lags.
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

/** Sets the one watch that a refused claim needs now. @returns the admission, if the claim is admitted after all */
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
    // A permit whose node was written is admitted. The write may have come before this watch was set. So the queue is
    // listed once more.
    if (node && (!relayed || node.stat.version === 0 || written === behind.name)) return undefined;
    written = node && behind.name;
    place.refusal = undefined;
  }
}
