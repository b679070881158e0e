import type { OutgoingMessage, Schema } from './protobuf.ts';

/** Field numbers of `etcdserverpb`, as far as locks need them: https://etcd.io/docs/v3.5/dev-guide/api_reference_v3/ */
const define = <const S extends Schema>(schema: S): S => schema;

const Header = define({ revision: [3, 'int'], term: [4, 'int'] });

export const KeyValue = define({
  key: [1, 'bytes'],
  createRevision: [2, 'int'],
  modRevision: [3, 'int'],
  value: [5, 'bytes'],
  lease: [6, 'int'],
});

export const RangeRequest = define({
  key: [1, 'bytes'],
  rangeEnd: [2, 'bytes'],
  limit: [3, 'int'],
  revision: [4, 'int'],
  sortOrder: [5, 'int'],
  sortTarget: [6, 'int'],
  keysOnly: [8, 'bool'],
  maxCreateRevision: [13, 'int'],
});
/** `count` is the number of all keys in the range, beyond the limit too. */
export const RangeResponse = define({
  header: [1, Header],
  kvs: [2, [KeyValue]],
  more: [3, 'bool'],
  count: [4, 'int'],
});
export const SORT = { ascending: 1n, descending: 2n, byCreateRevision: 2n } as const;

const PutRequest = define({
  key: [1, 'bytes'],
  value: [2, 'bytes'],
  lease: [3, 'int'],
  ignoreValue: [5, 'bool'],
  ignoreLease: [6, 'bool'],
});
const DeleteRequest = define({ key: [1, 'bytes'] });
const DeleteResponse = define({ deleted: [2, 'int'] });

export const Compare = define({
  result: [1, 'int'],
  target: [2, 'int'],
  key: [3, 'bytes'],
  createRevision: [5, 'int'],
  modRevision: [6, 'int'],
  lease: [8, 'int'],
  rangeEnd: [64, 'bytes'],
});
export const COMPARE = { equal: 0n, less: 2n, createRevision: 1n, modRevision: 2n, lease: 4n } as const;

export const RequestOp = define({ range: [1, RangeRequest], put: [2, PutRequest], delete: [3, DeleteRequest] });
const ResponseOp = define({ range: [1, RangeResponse], delete: [3, DeleteResponse] });
export const TxnRequest = define({ compare: [1, [Compare]], success: [2, [RequestOp]], failure: [3, [RequestOp]] });
export const TxnResponse = define({ header: [1, Header], succeeded: [2, 'bool'], responses: [3, [ResponseOp]] });

const WatchCreate = define({
  key: [1, 'bytes'],
  rangeEnd: [2, 'bytes'],
  startRevision: [3, 'int'],
  /** A packed list of one-byte enums, so it is sent as bytes. */
  filters: [5, 'bytes'],
  watchId: [7, 'int'],
});
const WatchCancel = define({ watchId: [1, 'int'] });
export const WatchRequest = define({ create: [1, WatchCreate], cancel: [2, WatchCancel] });
export const WatchResponse = define({
  watchId: [2, 'int'],
  created: [3, 'bool'],
  canceled: [4, 'bool'],
  events: [11, [define({ type: [1, 'int'] })]],
});
export const NO_PUTS: Buffer = Buffer.from([0]);

export const LeaseGrantRequest = define({ ttl: [1, 'int'] });
/** Also the answer to a keep-alive. A ttl of 0 or less says that the lease is gone. */
export const LeaseResponse = define({ id: [2, 'int'], ttl: [3, 'int'] });
export const TimeToLiveResponse = define({ header: [1, Header], ttl: [3, 'int'], granted: [4, 'int'] });
export const LeaseRequest = define({ id: [1, 'int'] });

export const AuthenticateRequest = define({ name: [1, 'string'], password: [2, 'string'] });
export const AuthenticateResponse = define({ token: [2, 'string'] });

export const Empty = define({});
export const StatusResponse = define({ version: [2, 'string'], errors: [8, 'string'] });
export const MemberListResponse = define({ members: [2, [define({ id: [1, 'int'], isLearner: [5, 'bool'] })]] });
export const AlarmResponse = define({ alarms: [2, [define({ alarm: [2, 'int'] })]] });

/** The end of the range of all keys that begin with `start`, which ends in plain ASCII. */
export function endOf(start: Buffer): Buffer {
  const end = Buffer.from(start);
  end[end.length - 1]!++;
  return end;
}

/** The parts of our transactions. */
export type Op = OutgoingMessage<typeof RequestOp>;
export type Transaction = OutgoingMessage<typeof TxnRequest>;
type Condition = OutgoingMessage<typeof Compare>;

/** Repeated, it is the same place: a write of an existing key keeps its create revision. */
export const stand = (key: Buffer, value: Buffer, lease: bigint): Op => ({ put: { key, value, lease } });
/** Without a lease, so it stays until somebody removes it. */
export const put = (key: Buffer, value: Buffer): Op => ({ put: { key, value } });
/** Puts an existing key under another lease. */
export const shift = (key: Buffer, lease: bigint): Op => ({ put: { key, lease, ignoreValue: true } });
/** Changes nothing, but watchers hear of it. */
export const touch = (key: Buffer): Op => ({ put: { key, ignoreValue: true, ignoreLease: true } });
export const remove = (key: Buffer): Op => ({ delete: { key } });
/** With its value, as etcd 3.7 tells the lease only then: https://github.com/etcd-io/etcd/issues/22209 */
export const get = (key: Buffer): Op => ({ range: { key } });
/** Without its value, so without its lease. */
export const look = (key: Buffer): Op => ({ range: { key, keysOnly: true } });

export const listing = (line: Buffer): OutgoingMessage<typeof RangeRequest> => ({
  key: line,
  rangeEnd: endOf(line),
  sortOrder: SORT.ascending,
  sortTarget: SORT.byCreateRevision,
});
export const list = (line: Buffer): Op => ({ range: listing(line) });

/** The places ahead of this token, without their values. */
export const ahead = (line: Buffer, token: bigint): Op => ({
  range: { key: line, rangeEnd: endOf(line), keysOnly: true, maxCreateRevision: token - 1n },
});
/** The last place of a line, and how many places there are. */
export const newest = (line: Buffer): Op => ({
  range: { ...listing(line), sortOrder: SORT.descending, limit: 1n, keysOnly: true },
});

const equals = (target: bigint, condition: Condition): Condition => ({ target, result: COMPARE.equal, ...condition });
export const stillStands = (key: Buffer, token: bigint): Condition =>
  equals(COMPARE.createRevision, { key, createRevision: token });
export const isUnder = (key: Buffer, lease: bigint): Condition => equals(COMPARE.lease, { key, lease });
/** The revision that was read; 0 means that there was no key. */
export const ifUnchanged = (key: Buffer, modRevision: bigint): Condition =>
  equals(COMPARE.modRevision, { key, modRevision });
/** True of an empty line too. A place that left does not matter: it only makes room. */
export const nobodyJoinedAfter = (line: Buffer, revision: bigint): Condition => ({
  key: line,
  rangeEnd: endOf(line),
  createRevision: revision + 1n,
  target: COMPARE.createRevision,
  result: COMPARE.less,
});
