import { endOf } from './line.ts';
import { COMPARE, type Compare, type RangeRequest, type RequestOp, SORT, type TxnRequest } from './messages.ts';
import type { Sent } from './protobuf.ts';

/** The few things a transaction of ours is made of. */
export type Op = Sent<typeof RequestOp>;
export type Transaction = Sent<typeof TxnRequest>;
type Condition = Sent<typeof Compare>;

/** A second time, it is the same place: writing an existing key keeps its create revision. */
export const stand = (key: Buffer, value: Buffer, lease: bigint): Op => ({ put: { key, value, lease } });
/** Without a lease: it stays until somebody removes it. */
export const put = (key: Buffer, value: Buffer): Op => ({ put: { key, value } });
/** Puts a standing key under another lease. */
export const shift = (key: Buffer, lease: bigint): Op => ({ put: { key, lease, ignoreValue: true } });
/** Changes nothing, but is seen by who watches. */
export const touch = (key: Buffer): Op => ({ put: { key, ignoreValue: true, ignoreLease: true } });
export const remove = (key: Buffer): Op => ({ delete: { key } });
export const get = (key: Buffer): Op => ({ range: { key } });
export const look = (key: Buffer): Op => ({ range: { key, keysOnly: true } });

export const listing = (line: Buffer): Sent<typeof RangeRequest> => ({
  key: line,
  rangeEnd: endOf(line),
  sortOrder: SORT.ascending,
  sortTarget: SORT.byCreateRevision,
});
export const list = (line: Buffer): Op => ({ range: listing(line) });

/** Whoever came before this ticket, without what they stored. */
export const ahead = (line: Buffer, ticket: bigint): Op => ({
  range: { key: line, rangeEnd: endOf(line), keysOnly: true, maxCreateRevision: ticket - 1n },
});
/** The youngest of a line, and how many there are. */
export const newest = (line: Buffer): Op => ({
  range: { ...listing(line), sortOrder: SORT.descending, limit: 1n, keysOnly: true },
});

export const stillStands = (key: Buffer, ticket: bigint): Condition => ({
  key,
  createRevision: ticket,
  target: COMPARE.createRevision,
  result: COMPARE.equal,
});
export const isUnder = (key: Buffer, lease: bigint): Condition => ({
  key,
  lease,
  target: COMPARE.lease,
  result: COMPARE.equal,
});
/** As it was read; with 0, when there was none. */
export const unchanged = (key: Buffer, modRevision: bigint): Condition => ({
  key,
  modRevision,
  target: COMPARE.modRevision,
  result: COMPARE.equal,
});
/** True of an empty line too. Who left does not matter: it only makes room. */
export const nobodyJoinedAfter = (line: Buffer, revision: bigint): Condition => ({
  key: line,
  rangeEnd: endOf(line),
  createRevision: revision + 1n,
  target: COMPARE.createRevision,
  result: COMPARE.less,
});
