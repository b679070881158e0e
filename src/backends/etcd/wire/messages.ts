import type { IncomingMessage, OutgoingMessage, Schema } from './protobuf.ts';

/** Field numbers of `etcdserverpb`, as far as locks need them: https://etcd.io/docs/v3.5/dev-guide/api_reference_v3/ */
const define = <const S extends Schema>(schema: S): S => schema;

export interface GrpcMethod<Q extends Schema, R extends Schema> {
  readonly path: string;
  readonly request: Q;
  readonly response: R;
}

const method = <const Q extends Schema, const R extends Schema>(
  path: string,
  request: Q,
  response: R,
): GrpcMethod<Q, R> => ({ path: `/etcdserverpb.${path}`, request, response });

const Header = define({ revision: [3, 'int'], term: [4, 'int'] });

const KeyValueFields = define({
  key: [1, 'bytes'],
  createRevision: [2, 'int'],
  modRevision: [3, 'int'],
  value: [5, 'bytes'],
  lease: [6, 'int'],
});
export type KeyValue = IncomingMessage<typeof KeyValueFields>;

const RangeRequest = define({
  key: [1, 'bytes'],
  rangeEnd: [2, 'bytes'],
  limit: [3, 'int'],
  revision: [4, 'int'],
  sortOrder: [5, 'int'],
  sortTarget: [6, 'int'],
  keysOnly: [8, 'bool'],
  maxCreateRevision: [13, 'int'],
});
/** `count` is the number of all keys in the range, also of those beyond `limit`. */
export const RangeResponse = define({
  header: [1, Header],
  kvs: [2, [KeyValueFields]],
  more: [3, 'bool'],
  count: [4, 'int'],
});
export type Range = OutgoingMessage<typeof RangeRequest>;
export type RangeAnswer = IncomingMessage<typeof RangeResponse>;
const SORT = { ascending: 1n, descending: 2n, byCreateRevision: 2n } as const;

const PutRequest = define({
  key: [1, 'bytes'],
  value: [2, 'bytes'],
  lease: [3, 'int'],
  ignoreValue: [5, 'bool'],
  ignoreLease: [6, 'bool'],
});
const DeleteRequest = define({ key: [1, 'bytes'] });
const DeleteResponse = define({ deleted: [2, 'int'] });

const Compare = define({
  result: [1, 'int'],
  target: [2, 'int'],
  key: [3, 'bytes'],
  createRevision: [5, 'int'],
  modRevision: [6, 'int'],
  lease: [8, 'int'],
  rangeEnd: [64, 'bytes'],
});
const COMPARE = { equal: 0n, less: 2n, createRevision: 1n, modRevision: 2n, lease: 4n } as const;

const RequestOp = define({ range: [1, RangeRequest], put: [2, PutRequest], delete: [3, DeleteRequest] });
const ResponseOp = define({ range: [1, RangeResponse], delete: [3, DeleteResponse] });
export const TxnRequest = define({ compare: [1, [Compare]], success: [2, [RequestOp]], failure: [3, [RequestOp]] });
const TxnResponse = define({ header: [1, Header], succeeded: [2, 'bool'], responses: [3, [ResponseOp]] });
export type Op = OutgoingMessage<typeof RequestOp>;
export type EtcdTransaction = OutgoingMessage<typeof TxnRequest>;
export type TransactionAnswer = IncomingMessage<typeof TxnResponse>;
export type Condition = OutgoingMessage<typeof Compare>;

const WatchCreate = define({
  key: [1, 'bytes'],
  rangeEnd: [2, 'bytes'],
  startRevision: [3, 'int'],
  /** A list of one-byte numbers, which is sent as bytes. */
  filters: [5, 'bytes'],
  watchId: [7, 'int'],
});
export const WatchRequest = define({ create: [1, WatchCreate], cancel: [2, define({ watchId: [1, 'int'] })] });
export const WatchResponse = define({
  watchId: [2, 'int'],
  created: [3, 'bool'],
  canceled: [4, 'bool'],
  events: [11, [define({ type: [1, 'int'] })]],
});
export const NO_PUTS: Buffer = Buffer.from([0]);

const LeaseRequest = define({ id: [1, 'int'] });
/** The answer to a grant, and to a keep-alive. A ttl of 0 or less says that the lease is gone. */
const LeaseResponse = define({ id: [2, 'int'], ttl: [3, 'int'] });
const TimeToLive = define({ header: [1, Header], ttl: [3, 'int'], granted: [4, 'int'] });
const Credentials = define({ name: [1, 'string'], password: [2, 'string'] });
const Empty = define({});

export const TXN = method('KV/Txn', TxnRequest, TxnResponse);
export const RANGE = method('KV/Range', RangeRequest, RangeResponse);
export const GRANT = method('Lease/LeaseGrant', { ttl: [1, 'int'] }, LeaseResponse);
export const REVOKE = method('Lease/LeaseRevoke', LeaseRequest, Empty);
// etcd declares this call as a stream. One stream per keep-alive, with one message each way, works too, and lets the server answer many at once.
export const KEEP_ALIVE = method('Lease/LeaseKeepAlive', LeaseRequest, LeaseResponse);
export const TIME_TO_LIVE = method('Lease/LeaseTimeToLive', LeaseRequest, TimeToLive);
export const AUTHENTICATE = method('Auth/Authenticate', Credentials, { token: [2, 'string'] });
export const STATUS_OF = method('Maintenance/Status', Empty, { version: [2, 'string'] });
export const ALARMS = method('Maintenance/Alarm', Empty, { alarms: [2, [define({ alarm: [2, 'int'] })]] });
export const MEMBERS = method('Cluster/MemberList', Empty, { members: [2, [define({ isLearner: [5, 'bool'] })]] });

/** The end of the range of all keys that begin with `start`. The last byte of `start` is always ASCII. */
export function endOf(start: Buffer): Buffer {
  const end = Buffer.from(start);
  end[end.length - 1]!++;
  return end;
}

/** Writes a key under a lease. */
export const stand = (key: Buffer, value: Buffer, lease: bigint): Op => ({ put: { key, value, lease } });
/** A key without a lease stays until somebody removes it. */
export const put = (key: Buffer, value: Buffer): Op => ({ put: { key, value } });
/** Puts an existing key under another lease. */
export const shift = (key: Buffer, lease: bigint): Op => ({ put: { key, lease, ignoreValue: true } });
/** Writes a key again as it is, so that its watches fire. */
export const touch = (key: Buffer): Op => ({ put: { key, ignoreValue: true, ignoreLease: true } });
export const remove = (key: Buffer): Op => ({ delete: { key } });
/** Reads a key with its value: etcd 3.7 gives the lease only then (https://github.com/etcd-io/etcd/issues/22209). */
export const get = (key: Buffer): Op => ({ range: { key } });
/** Reads a key without its value, and so without its lease. */
export const look = (key: Buffer): Op => ({ range: { key, keysOnly: true } });

export const listing = (queue: Buffer): Range => ({
  key: queue,
  rangeEnd: endOf(queue),
  sortOrder: SORT.ascending,
  sortTarget: SORT.byCreateRevision,
});
export const list = (queue: Buffer): Op => ({ range: listing(queue) });
/** The first 32 claims of a queue. The next claim to be admitted is usually among them, however long the queue is. */
export const firstOf = (queue: Buffer): Range => ({ ...listing(queue), limit: 32n });
export const head = (queue: Buffer): Op => ({ range: firstOf(queue) });

/** The claims ahead of this token, without their values. */
export const ahead = (queue: Buffer, token: bigint): Op => ({
  range: { key: queue, rangeEnd: endOf(queue), keysOnly: true, maxCreateRevision: token - 1n },
});
/** The last claim of a queue, and how many claims there are. */
export const newest = (queue: Buffer): Op => ({
  range: { ...listing(queue), sortOrder: SORT.descending, limit: 1n, keysOnly: true },
});

const equals = (target: bigint, condition: Condition): Condition => ({ target, result: COMPARE.equal, ...condition });
export const stillStands = (key: Buffer, token: bigint): Condition =>
  equals(COMPARE.createRevision, { key, createRevision: token });
/** etcd compares a key that is not there as one with a create revision of 0. */
export const isMissing = (key: Buffer): Condition => stillStands(key, 0n);
export const isUnder = (key: Buffer, lease: bigint): Condition => equals(COMPARE.lease, { key, lease });
/** @param modRevision the revision of the key as it was read; 0 if there was no key */
export const ifUnchanged = (key: Buffer, modRevision: bigint): Condition =>
  equals(COMPARE.modRevision, { key, modRevision });
/** True also for an empty queue. A claim that has left after `revision` does not matter: it only makes room. */
export const nobodyJoinedAfter = (queue: Buffer, revision: bigint): Condition => ({
  key: queue,
  rangeEnd: endOf(queue),
  createRevision: revision + 1n,
  target: COMPARE.createRevision,
  result: COMPARE.less,
});
