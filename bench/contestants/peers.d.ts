/** What we use of two packages that come without types that can be found. */
declare module 'redlock' {
  import type { Redis } from 'ioredis';
  export default class Redlock {
    constructor(clients: Iterable<Redis>, settings?: { retryCount?: number; retryDelay?: number });
    acquire(resources: string[], duration: number): Promise<{ release(): Promise<unknown> }>;
    on(event: 'error', listener: (error: unknown) => void): this;
  }
}

declare module 'proper-lockfile' {
  export interface Retries {
    readonly forever?: boolean;
    readonly minTimeout?: number;
    readonly factor?: number;
  }
  export function lock(
    path: string,
    options?: { readonly realpath?: boolean; readonly retries?: Retries },
  ): Promise<() => Promise<void>>;
}
