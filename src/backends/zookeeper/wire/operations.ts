import { bool, bytes, type Draft, int, type JuteFrame, type JuteKind, list, long, record, text, time } from './jute.ts';

/** A request: how it is written, and how its answer is read. The codes are from ZooKeeper's `ZooDefs`. */
export interface Operation<T> {
  readonly name: string;
  readonly code: number;
  /** The number of the request, where the protocol fixes it: for the few requests that are not answered in order. */
  readonly xid?: number;
  /** Whether the leader has a part in the answer. */
  readonly viaLeader?: boolean;
  /** What a watcher of this request watches. */
  readonly watches?: { readonly kind: 'node' | 'children'; readonly path: string; readonly ifMissing?: true };
  write(to: Draft, watch: boolean): void;
  read(from: JuteFrame): T;
}

/** Matches every version of a node. */
const ANY_VERSION = -1;

const STAT = record({
  /** The transaction that created the node. 64 bits; it grows over the whole ensemble, leader after leader. */
  czxid: long,
  /** The transaction that wrote its data last. */
  mzxid: long,
  ctime: time,
  /** When its data was written last, ms since 1970, by the clock of the leader of that time. */
  mtime: time,
  /** How often its data was written after its creation. */
  version: int,
  cversion: int,
  aversion: int,
  /** The session of an ephemeral node; 0 for other nodes. */
  ephemeralOwner: long,
  dataLength: int,
  numChildren: int,
  /** The last transaction that made or removed one of its children. */
  pzxid: long,
});
export type Stat = ReturnType<typeof STAT.read>;

const ACL = record({ permissions: int, scheme: text, id: text });
const READING = record({ path: text, watch: bool });
const REMOVAL = record({ path: text, version: int });
const CHANGE = record({ path: text, data: bytes, version: int });
const NODE = record({ path: text, data: bytes, acl: list(ACL), mode: int });
const CREATED = record({ path: text, stat: STAT });
const READ = record({ data: bytes, stat: STAT });
const NAMES = list(text);
const NODE_WATCH = record({ path: text, type: int });
export type CreatedNode = ReturnType<typeof CREATED.read>;
export type Read = ReturnType<typeof READ.read>;

type Answer<T> = Pick<JuteKind<never, T>, 'read'>;
const NO_ANSWER: Answer<void> = { read() {} };

/** A request in whose answer the leader has a part. */
const viaLeader = <M, T>(
  name: string,
  code: number,
  request: JuteKind<M, unknown>,
  message: M,
  answer: Answer<T>,
): Operation<T> => ({ name, code, viaLeader: true, write: (to) => request.write(to, message), read: answer.read });

/** A node that ends with its session. The server appends the next number of the parent to the name. Since 3.5. */
export const createEphemeralSequential = (path: string, data: Uint8Array, acl: readonly Acl[]) =>
  viaLeader('create2', 15, NODE, { path, data, acl, mode: 3 }, CREATED);

/** A node with exactly this name, which stays until it is removed. `create2`, whose answer has the `Stat`, is not allowed in a transaction. */
export const createPersistent = (path: string, data: Uint8Array, acl: readonly Acl[]) =>
  viaLeader('create', 1, NODE, { path, data, acl, mode: 0 }, text);

/** A parent that the server removes some time after its last child is gone. Since 3.5. */
export const createContainer = (path: string, acl: readonly Acl[]) =>
  viaLeader('createContainer', 19, NODE, { path, data: new Uint8Array(), acl, mode: 4 }, CREATED);

/** @param version the version that the node must have; any by default */
export const remove = (path: string, version: number = ANY_VERSION): Operation<void> =>
  viaLeader('delete', 2, REMOVAL, { path, version }, NO_ANSWER);

export const setData = (path: string, data: Uint8Array): Operation<Stat> =>
  viaLeader('setData', 5, CHANGE, { path, data, version: ANY_VERSION }, STAT);

const reading = <T>(
  name: string,
  code: number,
  watches: NonNullable<Operation<T>['watches']>,
  answer: Answer<T>,
): Operation<T> => {
  const { path } = watches;
  return { name, code, watches, write: (to, watch) => READING.write(to, { path, watch }), read: answer.read };
};

/** For a missing node the server refuses `getData`, and sets no watch, unlike for `exists`. */
export const getData = (path: string): Operation<Read> => reading('getData', 4, { kind: 'node', path }, READ);

/** The names under a node, and the transaction that changed them last. */
export interface NodeChildren {
  readonly names: readonly string[];
  readonly asOf: bigint;
}

const LISTING: Answer<NodeChildren> = {
  read: (from) => ({ names: NAMES.read(from), asOf: STAT.read(from).pzxid }),
};

export const getChildren = (path: string): Operation<NodeChildren> =>
  reading('getChildren2', 12, { kind: 'children', path }, LISTING);

/** The watcher of `exists` is also called when a missing node is created. */
export const exists = (path: string): Operation<Stat> =>
  reading('exists', 3, { kind: 'node', path, ifMissing: true }, STAT);

/** Ends the watch that `getData` or `exists` has set. Since 3.5. */
export const removeWatch = (path: string): Operation<void> => {
  const message = { path, type: 2 };
  return { name: 'removeWatches', code: 18, write: (to) => NODE_WATCH.write(to, message), ...NO_ANSWER };
};

export const getAcl = (path: string): Operation<readonly Acl[]> => ({
  ...{ name: 'getACL', code: 6 },
  ...{ write: (to) => text.write(to, path), read: list(ACL).read },
});

/**
 * A follower asks the leader, applies all that the leader had committed by then, and answers. The leader answers at once, perhaps before
 * it has applied writes that its followers have already answered: see `caughtUp`.
 */
export const sync: Operation<void> = viaLeader('sync', 9, text, '/', NO_ANSWER);

const LOGIN = record({ type: int, scheme: text, credentials: text });

export const authenticate = (user: string, password: string): Operation<void> => {
  const login = { type: 0, scheme: 'digest', credentials: `${user}:${password}` };
  return { name: 'auth', code: 100, xid: -4, write: (to) => LOGIN.write(to, login), ...NO_ANSWER };
};

/** Ends the session and its ephemeral nodes at once. */
export const closeSession: Operation<void> = { name: 'close', code: -11, write() {}, ...NO_ANSWER };

const STEP = record({ type: int, isLast: bool, error: int });
const END = { type: -1, isLast: true, error: -1 };
const ERROR = -1;

/** Several writes in one transaction, in their order. The answer is undefined, or names the step that was refused: then no step has an effect. */
export const multi = (
  steps: readonly Operation<unknown>[],
): Operation<{ readonly index: number; readonly code: number } | undefined> => ({
  ...{ name: 'multi', code: 14, viaLeader: true },
  write(to) {
    for (const step of steps) {
      STEP.write(to, { type: step.code, isLast: false, error: -1 });
      step.write(to, false);
    }
    STEP.write(to, END);
  },
  read(from) {
    const codes = steps.map((step) => outcomeOf(step, from));
    const index = codes.findIndex((code) => code < 0);
    return index < 0 ? undefined : { index, code: codes[index]! };
  },
});

/** @returns 0, or the code of an error (below 0) if the server refused this step or one before it */
function outcomeOf(step: Operation<unknown>, from: JuteFrame): number {
  if (STEP.read(from).type === ERROR) return int.read(from);
  step.read(from);
  return 0;
}

export interface Acl {
  /** Sum of read 1, write 2, create 4, delete 8, admin 16. */
  readonly permissions: number;
  /** `world`, `auth`, `digest`, `ip`, `x509`, `sasl`. */
  readonly scheme: string;
  readonly id: string;
}

const ALL_PERMISSIONS = 31;
/** Everybody may do everything. Without authentication there is nothing better. */
export const OPEN: readonly Acl[] = [{ permissions: ALL_PERMISSIONS, scheme: 'world', id: 'anyone' }];
/** Only the authenticated creator may do anything. */
export const CREATOR_ONLY: readonly Acl[] = [{ permissions: ALL_PERMISSIONS, scheme: 'auth', id: '' }];
