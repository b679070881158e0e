import type { Connection } from './wire/connection.ts';
import { Code, isKeeperError } from './wire/errors.ts';
import { createContainer, getChildren, getData, type Operation, type Read, remove, sync } from './wire/operations.ts';
import type { Acl } from './wire/records.ts';
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

/** Names under a node; one that is not there has none. */
export const children = (connection: Connection, path: string, watcher?: Watcher): Promise<string[]> =>
  orElse(connection, getChildren(path), [], watcher);

/**
 * The same, as of now: a follower answers from what it has applied, which may lack a release that is over, or our own node.
 * Both at once, since the server answers in order.
 * @see https://zookeeper.apache.org/doc/current/zookeeperInternals.html (consistency guarantees)
 */
export async function childrenNow(connection: Connection, path: string): Promise<string[]> {
  const [, names] = await Promise.all([connection.request(sync), children(connection, path)]);
  return names;
}

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
