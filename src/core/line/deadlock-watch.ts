import type { Backend } from '../contract/backend.ts';
import { LockError } from '../contract/errors.ts';
import { quoted } from '../engine/engine.ts';
import type { AcquireRequest } from './acquire-request.ts';

/** Looks whether waits can ever end. */
export interface DeadlockWatch {
  /** @param giveUp ends the wait with this error */
  watch(key: string, request: AcquireRequest, giveUp: (error: LockError) => void): void;
  close(): void;
}

/** @throws LockError `LOCK_UNSUPPORTED` where waiters cannot be listed; then `instead` is the way out */
export function checkWaitersListed({ name: backend, inspect, traits }: Backend, instead: string, key?: string): void {
  if (inspect && traits.fair) return;
  const why = inspect ? 'keeps no line, so it cannot list who waits' : 'cannot list who holds and who waits';
  throw new LockError('LOCK_UNSUPPORTED', `${quoted(backend)} ${why}; ${instead}`, {
    backend,
    ...(key !== undefined && { key }),
  });
}
