export type { DialectName } from './dialect.ts';
export { type KeepOptions, type KeepResult, keepIn } from './keep.ts';
export { type ChangeOptions, changeRow, type RetryOptions, retryStale, STALE } from './optimistic.ts';
export { type LockFreeOptions, type LockRowOptions, lockFree, lockRow } from './pessimistic.ts';
export type { Query, Row } from './query.ts';
