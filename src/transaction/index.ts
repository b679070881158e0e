export { queryOf, type Transaction } from './clients.ts';
export { type KeepOptions, type KeepResult, keepIn } from './keep.ts';
export type { DialectName, Query, Row } from './query.ts';
export { type RetryOptions, retryStale } from './retry.ts';
export {
  type ChangeOptions,
  changeRow,
  type LockFreeOptions,
  type LockRowOptions,
  lockFree,
  lockRow,
  STALE,
} from './rows.ts';
