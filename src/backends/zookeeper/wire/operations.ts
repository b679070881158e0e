import type { Decoder, Encoder } from './jute.ts';

/** A request: how it is written, and how its answer is read. The numbers are those of ZooKeeper's `ZooDefs`. */
export interface Operation<T> {
  readonly name: string;
  readonly code: number;
  /** The protocol fixes it for the few requests that are not answered in order. */
  readonly xid?: number;
  /** The leader has a part in the answer. So the answer shows that the session is alive there, too. */
  readonly viaLeader?: boolean;
  /** What a watcher of this request watches. */
  readonly watches?: { readonly kind: 'node' | 'children'; readonly path: string; readonly ifMissing?: true };
  encode(into: Encoder, watch: boolean): void;
  decode(from: Decoder): T;
}

const nothing = (): void => {};

/** Matches every version of a node. */
const ANY_VERSION = -1;

export interface CreatedNode {
  readonly path: string;
  readonly stat: Stat;
}

/** A request that the leader has a part in. */
const viaLeader = <T>(
  name: string,
  code: number,
  encode: (into: Encoder) => void,
  decode: (from: Decoder) => T,
): Operation<T> => ({ name, code, viaLeader: true, encode, decode });

const node =
  (path: string, data: Uint8Array, acl: readonly Acl[], mode: number) =>
  (into: Encoder): void => {
    into.text(path).bytes(data);
    into.list(acl, ({ permissions, scheme, id }) => into.int(permissions).text(scheme).text(id));
    into.int(mode);
  };
const decodeCreated = (from: Decoder): CreatedNode => ({ path: from.text(), stat: decodeStat(from) });

/** A node that ends with its session. The server appends the next number of the parent to the name. Since 3.5. */
export const createEphemeralSequential = (path: string, data: Uint8Array, acl: readonly Acl[]) =>
  viaLeader('create2', 15, node(path, data, acl, 3), decodeCreated);

/** A node of just this name, which stays until somebody removes it. A transaction takes no `create2`, which would give the state, too. */
export const createPersistent = (path: string, data: Uint8Array, acl: readonly Acl[]) =>
  viaLeader('create', 1, node(path, data, acl, 0), (from) => from.text());

/** A parent that the server removes some time after its last child is gone. Since 3.5. */
export const createContainer = (path: string, acl: readonly Acl[]) =>
  viaLeader('createContainer', 19, node(path, new Uint8Array(), acl, 4), decodeCreated);

/** @param version that it must have, if that matters */
export const remove = (path: string, version: number = ANY_VERSION): Operation<void> =>
  viaLeader('delete', 2, (into) => void into.text(path).int(version), nothing);

export const setData = (path: string, data: Uint8Array): Operation<Stat> =>
  viaLeader('setData', 5, (into) => void into.text(path).bytes(data).int(ANY_VERSION), decodeStat);

function reading<T>(
  name: string,
  code: number,
  kind: 'node' | 'children',
  path: string,
  decode: (from: Decoder) => T,
): Operation<T> {
  return { name, code, watches: { kind, path }, encode: (into, watch) => void into.text(path).bool(watch), decode };
}

export interface Read {
  readonly data: Buffer;
  readonly stat: Stat;
}

/** Fails on a missing node, and then leaves no watch, unlike `exists`. */
export const getData = (path: string): Operation<Read> =>
  reading('getData', 4, 'node', path, (from) => ({ data: from.bytes(), stat: decodeStat(from) }));

/** The names under a node, and the transaction that changed them last. */
export interface NodeChildren {
  readonly names: readonly string[];
  readonly asOf: bigint;
}

export const getChildren = (path: string): Operation<NodeChildren> =>
  reading('getChildren2', 12, 'children', path, (from) => ({
    names: from.list(() => from.text()),
    asOf: decodeStat(from).pzxid,
  }));

/** Its watcher also hears of the creation of a missing node. */
export const exists = (path: string): Operation<Stat> => ({
  ...reading('exists', 3, 'node', path, decodeStat),
  watches: { kind: 'node', path, ifMissing: true },
});

export const getAcl = (path: string): Operation<Acl[]> => ({
  name: 'getACL',
  code: 6,
  encode: (into) => void into.text(path),
  decode: (from) => from.list(() => ({ permissions: from.int(), scheme: from.text(), id: from.text() })),
});

/**
 * A follower answers only after it has asked the leader, and has applied what the leader had committed by then. The leader answers at
 * once, and may not have applied yet what its followers have answered: see `caughtUp`.
 */
export const sync: Operation<void> = viaLeader('sync', 9, (into) => void into.text('/'), nothing);

export const authenticate = (user: string, password: string): Operation<void> => ({
  name: 'auth',
  code: 100,
  xid: -4,
  encode: (into) => void into.int(0).text('digest').text(`${user}:${password}`),
  decode: nothing,
});

/** Ends the session and its ephemeral nodes at once. */
export const closeSession: Operation<void> = { name: 'close', code: -11, encode: nothing, decode: nothing };

const MULTI = 14;
const ERROR = -1;

/** Several writes in one transaction, in their order. The answer is undefined, or the step for which it was refused: then none has an effect. */
export const multi = (
  steps: readonly Operation<unknown>[],
): Operation<{ readonly index: number; readonly code: number } | undefined> =>
  viaLeader(
    'multi',
    MULTI,
    (into) => {
      for (const step of steps) {
        into.int(step.code).bool(false).int(-1);
        step.encode(into, false);
      }
      into.int(-1).bool(true).int(-1);
    },
    (from) => {
      const codes = steps.map((step) => outcomeOf(step, from));
      const index = codes.findIndex((code) => code < 0);
      return index < 0 ? undefined : { index, code: codes[index]! };
    },
  );

/** 0, or below 0 if the server refused this step, or any step before it. */
function outcomeOf(step: Operation<unknown>, from: Decoder): number {
  const type = from.int();
  from.bool();
  from.int();
  if (type === ERROR) return from.int();
  step.decode(from);
  return 0;
}

export interface Stat {
  /** The transaction that created the node. 64 bits; it grows over the whole ensemble, leader after leader. */
  readonly czxid: bigint;
  /** The transaction that wrote its data last. */
  readonly mzxid: bigint;
  /** When its data was written last, by the clock of the leader then. ms since 1970. */
  readonly mtime: number;
  /** How often its data was written after that. */
  readonly version: number;
  /** The session of an ephemeral node; 0 for other nodes. */
  readonly ephemeralOwner: bigint;
  /** The last transaction that made or removed one of its children. */
  readonly pzxid: bigint;
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

function decodeStat(from: Decoder): Stat {
  const czxid = from.long();
  const mzxid = from.long();
  from.long(); // ctime
  const mtime = Number(from.long());
  const version = from.int();
  from.int(); // cversion
  from.int(); // aversion
  const ephemeralOwner = from.long();
  from.int(); // dataLength
  from.int(); // numChildren
  return { czxid, mzxid, mtime, version, ephemeralOwner, pzxid: from.long() };
}
