import type { LockOptions } from '../../core/index.ts';

/** What an actor needs of a hold. Our leases have it; an adapter can add it to another library. */
export interface LibraryLease {
  readonly held: boolean;
  /** ms; Infinity if no time ends the hold. */
  readonly remaining: number;
  readonly signal: AbortSignal;
  readonly token?: bigint;
  extend(ms: number): Promise<unknown>;
  release(): Promise<unknown>;
}

export interface LibraryLock {
  acquire(options: LockOptions): Promise<LibraryLease>;
  tryAcquire(options: { readonly ttl: number; readonly renew: boolean }): Promise<LibraryLease | null>;
}

/** The locks of a process: ours, or those of another library. */
export interface LockLibrary {
  mutex(key: string): LibraryLock;
  rwLock(key: string): { readonly read: LibraryLock; readonly write: LibraryLock };
  semaphore(key: string, options: { readonly permits: number }): LibraryLock;
  close(): Promise<void>;
}
