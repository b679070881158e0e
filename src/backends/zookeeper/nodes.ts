import type { Hints } from '../../core/index.ts';
import { type KeyRecord, overAt, readRecord, recordWith, storedValueIn, writeRecord } from '../shared/record.ts';
import { encodeKey } from './names.ts';
import type { Settings } from './options.ts';
import type { ZooKeeperConnection } from './wire/connection.ts';
import { Code, isKeeperError } from './wire/errors.ts';
import {
  type Acl,
  createContainer,
  createPersistent,
  exists,
  getChildren,
  getData,
  type NodeChildren,
  type Operation,
  type Read,
  remove,
  type Stat,
  setData,
} from './wire/operations.ts';
import type { Watcher } from './wire/requests.ts';

/**
 * Asks over a connection, and translates errors.
 * @param what names the request in an error
 * @param ask gets the connection, and the time when the call began, by the clock
 * @param within how long to wait for a connection, ms; 5 s by default
 */
export type Ask = <T>(
  what: string,
  ask: (connection: ZooKeeperConnection, began: number) => Promise<T>,
  within?: number,
) => Promise<T>;

/** How often in a row a container may vanish between its creation and its use. */
export const MAX_ATTEMPTS = 10;

/** The answer to the operation, or `instead` if the node is not there. */
async function orElse<T, E>(
  connection: ZooKeeperConnection,
  operation: Operation<T>,
  instead: E,
  watcher?: Watcher,
): Promise<T | E> {
  return connection.request(operation, watcher).catch(unless(Code.noNode, instead));
}

const unless =
  <E>(code: number, instead: E) =>
  (error: unknown): E => {
    if (isKeeperError(error, code)) return instead;
    throw error;
  };

/** A node that is not there has no children. */
export const list = (connection: ZooKeeperConnection, path: string, watcher?: Watcher): Promise<NodeChildren> =>
  orElse(connection, getChildren(path), { names: [], asOf: 0n }, watcher);

/** No node has this name. */
const NO_NODE = '_c_-none';

/**
 * Resolves when the server has applied all writes that any server has answered before. On a follower, a `sync` would be enough. But the leader
 * answers a `sync` at once, perhaps before it has applied writes that its followers have answered. The answer to a write comes after all
 * earlier writes, so this removes a node that never exists.
 */
export async function caughtUp(connection: ZooKeeperConnection, parent: string): Promise<void> {
  await connection.request(remove(`${parent}/${NO_NODE}`)).catch((error) => {
    // The answer to a refused write also comes after all earlier writes.
    if (!isKeeperError(error, Code.noNode) && !isKeeperError(error, Code.noAuth)) throw error;
  });
}

/** The names under a node as of now. Both requests are sent at once: the server answers in order. */
export async function listNow(connection: ZooKeeperConnection, path: string): Promise<NodeChildren> {
  const [, listing] = await Promise.all([caughtUp(connection, path), list(connection, path)]);
  return listing;
}

/** @returns undefined if the node is missing; then the watcher is called when the node is made */
export const stat = (connection: ZooKeeperConnection, path: string, watcher?: Watcher): Promise<Stat | undefined> =>
  orElse(connection, exists(path), undefined, watcher);

/** @returns undefined if the node is missing: then nothing is watched */
export const read = (connection: ZooKeeperConnection, path: string, watcher?: Watcher): Promise<Read | undefined> =>
  orElse(connection, getData(path), undefined, watcher);

/** @returns whether the node was there */
export const removeNode = async (connection: ZooKeeperConnection, path: string): Promise<boolean> =>
  (await orElse(connection, remove(path), false)) !== false;

/** Calls `act`, which needs the container of a node. If the container is missing, makes it: the server removes one that was empty for a while. */
export async function inContainer<T>(
  connection: ZooKeeperConnection,
  path: string,
  acl: readonly Acl[],
  act: () => Promise<T>,
): Promise<T> {
  for (let attempts = 1; ; attempts++) {
    try {
      return await act();
    } catch (error) {
      if (!isKeeperError(error, Code.noNode) || attempts === MAX_ATTEMPTS) throw error;
      await ensureContainer(connection, path.slice(0, path.lastIndexOf('/')), acl);
    }
  }
}

export const ensureContainer = (connection: ZooKeeperConnection, path: string, acl: readonly Acl[]): Promise<unknown> =>
  inContainer(connection, path, acl, () =>
    connection.request(createContainer(path, acl)).catch(unless(Code.nodeExists, undefined)),
  );

export const putNode = (
  connection: ZooKeeperConnection,
  path: string,
  data: Uint8Array,
  acl: readonly Acl[],
): Promise<unknown> =>
  inContainer(connection, path, acl, async () => {
    const made = await connection.request(createPersistent(path, data, acl)).catch(unless(Code.nodeExists, undefined));
    return made ?? connection.request(setData(path, data)); // if the node was removed meanwhile, the error starts the next attempt
  });

/** The leader's time, ms since 1970: only the answer to a write has this time. 0 if the container is gone, and all its nodes with it. */
export async function timeAt(connection: ZooKeeperConnection, container: string): Promise<number> {
  return (await orElse(connection, setData(container, new Uint8Array()), { mtime: 0 })).mtime;
}

/** The record in a node, in the leader's time: stored times count from the write of the node. @throws LockError `LOCK_INVALID` for another format */
export function recordIn(node: Read): KeyRecord {
  const { counts, at, until, ...record } = readRecord(node.data.toString());
  const { mtime } = node.stat;
  return { ...record, counts: counts + mtime, at: at + mtime, until: until + mtime };
}

const MAX_SWEPT = 16;

/**
 * Looks at some nodes of a container, and removes those that have expired.
 * @param from where in the listing to begin, from 0 to 1
 */
export async function sweep(connection: ZooKeeperConnection, container: string, from: number): Promise<void> {
  const [now, { names }] = await Promise.all([timeAt(connection, container), list(connection, container)]);
  const begin = Math.floor(from * names.length);
  const some = [...names.slice(begin), ...names.slice(0, begin)].slice(0, MAX_SWEPT);
  const look = async (name: string): Promise<void> => {
    const node = await read(connection, `${container}/${name}`);
    if (!node || overAt(recordIn(node)) > now) return;
    await connection.request(remove(`${container}/${name}`, node.stat.version)); // refused if the node was written meanwhile
  };
  await Promise.allSettled(some.map(look));
}

/** Notifies once: when a node under `parent` is made or removed, or when the connection ends. */
export async function watchChildren(
  connection: ZooKeeperConnection,
  parent: string,
  notify: () => void,
): Promise<AsyncDisposable> {
  let over = false;
  const notifyOnce = (): void => {
    const isFirst = !over;
    over = true;
    if (isFirst) notify();
  };
  const watcher = Object.assign(notifyOnce, { isOver: () => over });
  const { asOf } = await list(connection, parent, watcher);
  // While `parent` is missing, its creation is watched instead. If `parent` was made since the listing, its children can be watched.
  if (asOf === 0n && (await stat(connection, parent, watcher))) await list(connection, parent, watcher);
  return {
    [Symbol.asyncDispose]: async () => {
      over = true;
    },
  };
}

/** The node of no key has this name: keys percent-encode `@`. */
const HINTS = '@hints';

/** Hints in persistent nodes. The ttl of a hint counts from the write of its node, by the leader's clock. */
export function hintsIn({ root, acl, clock }: Settings, ask: Ask): Hints {
  const folder = `${root}/${HINTS}`;
  const pathOf = (name: string): string => `${folder}/${encodeKey(name)}`;
  return {
    read: (name) =>
      ask('read a hint', async (connection) => {
        // Both requests are sent at once: the server answers in order. `timeAt` writes, so the read misses no earlier write.
        const [now, node] = await Promise.all([timeAt(connection, folder), read(connection, pathOf(name))]);
        return storedValueIn(node && recordIn(node), now)?.text;
      }),
    write: (name, text, ttl) =>
      ask('write a hint', async (connection) => {
        const path = pathOf(name);
        if (text === undefined) await removeNode(connection, path);
        else await putNode(connection, path, Buffer.from(writeRecord(recordWith(0n, { text, ttl }, 0))), acl);
        await sweep(connection, folder, clock.random());
      }),
  };
}
