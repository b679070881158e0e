import type { LockOptions } from '../../core/options.ts';

/** What an actor asks of a hold: a lease of ours has it, and that of another library can be brought to it. */
export interface Holding {
  readonly held: boolean;
  /** ms; Infinity where no time ends it. */
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
