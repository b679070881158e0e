import type { Clock } from '../../core/index.ts';
import { type Admitted, REREAD_AFTER_MS, type Refused, verdictOn } from '../shared/queue-verdict.ts';
import { type ClaimNode, sortedQueue } from './names.ts';
import { caughtUp, list, read, stat } from './nodes.ts';
import type { ZooKeeperConnection } from './wire/connection.ts';
import { ConnectionLost } from './wire/errors.ts';
import { type NodeChildren, type Operation, sync } from './wire/operations.ts';
import type { Watcher } from './wire/requests.ts';

/** A node of this process in a queue. It is the place of a claim, and later the hold. */
export interface OwnNode {
  readonly session: bigint;
  readonly path: string;
  readonly name: string;
  readonly token: bigint;
  /** Aborted when the hold is lost. Made with the first grant. */
  lost?: AbortController;
  /** Whether a notification has granted the hold. */
  notified?: true;
  /** A time before the request to create the node was sent, by the clock. */
  readonly made: number;
  /** When the last answered attempt began; before the first answer, when the attempt began that has made or found the node. */
  asked: number;
  /** The write that notifies the next permit of this admission, until it has succeeded; undefined: no write is needed. */
  relay?: Operation<unknown> | 'sent';
  /** The connection that watches the node. While this connection lives and its watch has not fired, the node exists. */
  seenOn?: ZooKeeperConnection;
  /** Why the claim waits, by the last listing of its queue. */
  refusal?: {
    readonly verdict: Refused<ClaimNode>;
    /** The last transaction that changed the queue before that listing. */
    readonly asOf: bigint;
    /** The time of that listing, by the clock. */
    readonly listed: number;
  };
  /** The watch on the node that the claim waits for, or on the whole queue. */
  guard?: Watcher & { readonly connection: ZooKeeperConnection };
}

/** Decides what a listing of the queue means for a node in it. Keeps a refusal in `place.refusal`. */
export function verdictFrom(place: OwnNode, { names, asOf }: NodeChildren, now: number): Admitted | Refused<ClaimNode> {
  const queue = sortedQueue(names);
  const at = queue.findIndex(({ name }) => name === place.name);
  if (at < 0) throw new ConnectionLost('the node is not in its own queue');
  const verdict = verdictOn(queue, at);
  place.refusal = verdict.admitted ? undefined : { verdict, asOf, listed: now };
  return verdict;
}

/**
 * Whether a refused claim is surely still refused; if false, the queue must be listed. This asks only for the state of single nodes (the node
 * of the claim, the node that it waits for, and their parent), so the cost does not grow with the queue.
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
  // If the obstacle is watched, a `sync` is enough: a change that this server has not applied yet fires the watch later.
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
