export { currentLease, Locked, type LockedDecorator, locked } from './locked.ts';
export { lockedBy, useLocks } from './locks.ts';
export { currentRun, Memo, type MemoDecorator, type MemoizedOptions, memoized } from './memo.ts';
export type { Key, KeyOption, LockedOptions, OnBusy, WhenBusy } from './options.ts';
