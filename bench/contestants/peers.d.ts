/** What we use of two packages that come without types that can be found. */
declare module 'redlock' {
  import type { Redis } from 'ioredis';
  export default class Redlock {
    constructor(clients: Iterable<Redis>, settings?: { retryCount?: number; retryDelay?: number });
    acquire(resources: string[], duration: number): Promise<{ release(): Promise<unknown> }>;
    using<T>(resources: string[], duration: number, routine: (signal: AbortSignal) => Promise<T>): Promise<T>;
    on(event: 'error', listener: (error: unknown) => void): this;
  }
}

declare module 'proper-lockfile' {
  export interface Retries {
    readonly forever?: boolean;
    readonly minTimeout?: number;
    readonly factor?: number;
  }
  export interface LockOptions {
    readonly realpath?: boolean;
    readonly retries?: Retries | number;
    readonly stale?: number;
    readonly onCompromised?: (error: Error) => void;
  }
  export function lock(path: string, options?: LockOptions): Promise<() => Promise<void>>;
}
