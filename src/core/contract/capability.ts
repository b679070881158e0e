import type { Backend } from './backend.ts';
import { invalid, LockError, quoted, shown } from './errors.ts';

/** @throws LockError `LOCK_INVALID`, or `LOCK_UNSUPPORTED` where the engine cannot list its locks */
export function checkListable(backend: Backend, prefix: string): void {
  if (typeof prefix !== 'string') throw invalid(`a prefix must be a string, not ${shown(prefix)}`);
  if (!backend.inspect) throw unsupported(backend, 'list its locks');
}

/** @throws LockError `LOCK_UNSUPPORTED` where waiters cannot be listed; then `instead` is the way out */
export function checkWaitersListed({ name: backend, inspect, traits }: Backend, instead: string, key?: string): void {
  if (inspect && traits.fair) return;
  const why = inspect ? 'keeps no line, so it cannot list who waits' : 'cannot list who holds and who waits';
  throw new LockError('LOCK_UNSUPPORTED', `${quoted(backend)} ${why}; ${instead}`, { backend, key });
}

/** Makes the error for something that this engine cannot do. */
export const unsupported = ({ name: backend }: Backend, what: string, key?: string): LockError =>
  new LockError('LOCK_UNSUPPORTED', `${quoted(backend)} cannot ${what}`, { backend, key });
