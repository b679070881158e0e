import type { Hints } from '../../core/index.ts';
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
 * Asks over a connection, and translates what that throws.
 * @param what for messages: what is asked
 * @param ask gets the connection, and when it was first waited for, by the clock
 * @param within how long to wait for one, ms; 5 s by default
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
 * Resolves after the server has applied everything that any server had answered before. On a follower a `sync` would do. The leader
 * answers a `sync` at once, and may lag behind what its followers have told their clients. But a write has its place among all other
 * writes, and the removal of a missing node changes nothing.
 */
export async function caughtUp(connection: ZooKeeperConnection, parent: string): Promise<void> {
  await connection.request(remove(`${parent}/${NO_NODE}`)).catch((error) => {
    // A write that the leader refused has had its place, too.
    if (!isKeeperError(error, Code.noNode) && !isKeeperError(error, Code.noAuth)) throw error;
  });
}

/** The names under a node as of now. Both are sent at once, since the server answers in order. */
export async function listNow(connection: ZooKeeperConnection, path: string): Promise<NodeChildren> {
  const [, listing] = await Promise.all([caughtUp(connection, path), list(connection, path)]);
  return listing;
}

/** @returns undefined when it is not there; then a watcher is told when it is made */
export const stat = (connection: ZooKeeperConnection, path: string, watcher?: Watcher): Promise<Stat | undefined> =>
  orElse(connection, exists(path), undefined, watcher);

/** @returns undefined when it is not there, and then nothing is watched */
export const read = (connection: ZooKeeperConnection, path: string, watcher?: Watcher): Promise<Read | undefined> =>
  orElse(connection, getData(path), undefined, watcher);

/** @returns whether it was there */
export const removeNode = async (connection: ZooKeeperConnection, path: string): Promise<boolean> =>
  (await orElse(connection, remove(path), false)) !== false;

/** Does what needs the container of a node. It is made where it is missing; the server removes it when it was empty for a while. */
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
    return made ?? connection.request(setData(path, data)); // if it was removed meanwhile, it is made
  });

/** The time of the leader, ms since 1970. Only a write tells it. Where the container is gone, nothing is stored any more: it is 0. */
export async function timeAt(connection: ZooKeeperConnection, container: string): Promise<number> {
  return (await orElse(connection, setData(container, new Uint8Array()), { mtime: 0 })).mtime;
}

const MAX_SWEPT = 16;

/**
 * Removes what is over among some nodes of a container.
 * @param from where to begin, from 0 to 1
 * @param lasts for how many ms after it was written the data of a node count
 */
export async function sweep(
  connection: ZooKeeperConnection,
  container: string,
  from: number,
  lasts: (data: string) => number,
): Promise<void> {
  const [now, { names }] = await Promise.all([timeAt(connection, container), list(connection, container)]);
  const begin = Math.floor(from * names.length);
  const some = [...names.slice(begin), ...names.slice(0, begin)].slice(0, MAX_SWEPT);
  const look = async (name: string): Promise<void> => {
    const node = await read(connection, `${container}/${name}`);
    const isOver = node !== undefined && lasts(node.data.toString()) + node.stat.mtime <= now; // never true of NaN
    if (!isOver) return;
    await connection.request(remove(`${container}/${name}`, node.stat.version)); // not, if it was written meanwhile
  };
  await Promise.allSettled(some.map(look));
}

/** What ends a watch on a node: it is forgotten when it is over (`Watcher.isOver`). */
export const WATCH_ENDS_ITSELF = (): void => {};

/** Tells once when a node under `parent` is made or removed, or when the connection ends. */
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
  // A missing node has no children to watch. If it was made since, its children can be watched after all.
  if (asOf === 0n && (await stat(connection, parent, watcher))) await list(connection, parent, watcher);
  return {
    [Symbol.asyncDispose]: async () => {
      over = true;
    },
  };
}

/** No key has this node: `@` is encoded in keys. */
const HINTS = '@hints';

/** Hints in persistent nodes. A hint counts for so many ms from the time at which its node was written, by the clock of the leader. */
export function hintsIn({ root, acl, clock }: Settings, ask: Ask): Hints {
  const folder = `${root}/${HINTS}`;
  const pathOf = (name: string): string => `${folder}/${encodeKey(name)}`;
  return {
    read: (name) =>
      ask('read a hint', async (connection) => {
        // Both are sent at once, since the server answers in order. The write that tells the time also sees all earlier writes.
        const [now, node] = await Promise.all([timeAt(connection, folder), read(connection, pathOf(name))]);
        if (!node) return undefined;
        const stored = node.data.toString();
        return node.stat.mtime + lasts(stored) > now ? stored.slice(stored.indexOf(' ') + 1) : undefined;
      }),
    write: (name, text, ttl) =>
      ask('write a hint', async (connection) => {
        const path = pathOf(name);
        if (text === undefined) await removeNode(connection, path);
        else await putNode(connection, path, Buffer.from(`${Math.ceil(ttl)} ${text}`), acl);
        await sweep(connection, folder, clock.random(), lasts);
      }),
  };
}

/** The ms for which a stored hint counts. */
const lasts = (stored: string): number => Number.parseInt(stored, 10);
