import type { LockOptions } from '../../core/contract/options.ts';

/** What an actor needs of a hold. Our leases have it; an adapter can add it to another library. */
export interface Holding {
  readonly held: boolean;
  /** ms; Infinity if no time ends the hold. */
  readonly remaining: number;
  readonly signal: AbortSignal;
  readonly token?: bigint;
  extend(ms: number): Promise<unknown>;
  release(): Promise<unknown>;
}

export interface Wanted {
  acquire(options: LockOptions): Promise<Holding>;
  tryAcquire(options: { readonly ttl: number }): Promise<Holding | null>;
}

/** The locks of a process: ours, or those of another library. */
export interface Doors {
  mutex(key: string): Wanted;
  rwLock(key: string): { readonly read: Wanted; readonly write: Wanted };
  semaphore(key: string, options: { readonly permits: number }): Wanted;
  close(): Promise<void>;
}
