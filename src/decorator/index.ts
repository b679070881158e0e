export { currentLease } from './call.ts';
export { Locked, type LockedDecorator, locked } from './locked.ts';
export { lockedBy, useLocks } from './locks.ts';
export type { Key, KeyOption, LockedOptions, OnBusy, WhenBusy } from './options.ts';
