import { COMPARE, type Compare, type RangeRequest, type RequestOp, SORT, type TxnRequest } from './messages.ts';
import type { OutgoingMessage } from './protobuf.ts';

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
