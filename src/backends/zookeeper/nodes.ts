import type { Connection } from './wire/connection.ts';
import { Code, isKeeperError } from './wire/errors.ts';
import { createContainer, exists, getChildren, getData, type Operation, type Read, remove } from './wire/operations.ts';
import type { Acl, Stat } from './wire/records.ts';
import type { Watcher } from './wire/watches.ts';

/** Containers that vanish between being made and being used, in a row, before it is trouble. */
export const TRIES = 10;

/** What the operation answers; `instead` on a node that is not there. */
async function orElse<T, E>(
  connection: Connection,
  operation: Operation<T>,
  instead: E,
  watcher?: Watcher,
): Promise<T | E> {
  try {
    return await connection.request(operation, watcher);
  } catch (error) {
    if (isKeeperError(error, Code.noNode)) return instead;
    throw error;
  }
}

/** The names under a node, and the transaction that changed them last. */
export interface Listing {
  readonly names: readonly string[];
  readonly asOf: bigint;
}

/** A node that is not there has no children. */
export async function list(connection: Connection, path: string, watcher?: Watcher): Promise<Listing> {
  const found = await orElse(connection, getChildren(path), undefined, watcher);
  return found ? { names: found.names, asOf: found.stat.pzxid } : { names: [], asOf: 0n };
}

/** Nobody has a node of this name. */
const NOBODY = '_c_-none';

/**
 * Answered after the server asked has applied all that anybody had been answered before. A `sync` would do on a follower, but the
 * leader lets it pass: it may lag behind what its followers have already told their clients. A write has its place among all
 * others, and the removal of a node that is not there changes nothing.
 */
export async function caughtUp(connection: Connection, parent: string): Promise<void> {
  await connection.request(remove(`${parent}/${NOBODY}`)).catch((error) => {
    // Refused by the leader, it has had its place among the others.
    if (!isKeeperError(error, Code.noNode) && !isKeeperError(error, Code.noAuth)) throw error;
  });
}

/** The names under a node as of now. Both at once, since the server answers in order. */
export async function listNow(connection: Connection, path: string): Promise<Listing> {
  const [, listing] = await Promise.all([caughtUp(connection, path), list(connection, path)]);
  return listing;
}

/** @returns undefined when it is not there; then a watcher is told when it is made */
export const stat = (connection: Connection, path: string, watcher?: Watcher): Promise<Stat | undefined> =>
  orElse(connection, exists(path), undefined, watcher);

/** @returns undefined when it is not there, and then nothing is watched */
export const read = (connection: Connection, path: string, watcher?: Watcher): Promise<Read | undefined> =>
  orElse(connection, getData(path), undefined, watcher);

/** @returns whether it was there */
export const removed = async (connection: Connection, path: string): Promise<boolean> =>
  (await orElse(connection, remove(path), false)) !== false;

/** The node and its parents, as far as they are missing. The server removes them when they have stood empty for a while. */
export async function ensureContainer(connection: Connection, path: string, acl: readonly Acl[]): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await connection.request(createContainer(path, acl));
      return;
    } catch (error) {
      if (isKeeperError(error, Code.nodeExists)) return;
      if (!isKeeperError(error, Code.noNode) || tries === TRIES) throw error;
      await ensureContainer(connection, path.slice(0, path.lastIndexOf('/')), acl);
    }
  }
}
