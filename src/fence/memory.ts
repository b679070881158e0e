import { checkToken, fencedError } from './fence.ts';

/** A guard for something in this process. Its calls are synchronous, so check and write are one step. */
export class MemoryFence {
  readonly #resource: string;
  #newest = -1n;

  constructor(resource: string) {
    this.#resource = resource;
  }

  /**
   * Raises the mark to `token`. Call it before the first read, and with every write.
   * @throws LockError `LOCK_FENCED` when a newer token was seen
   * @example
   * const fence = memoryFence('the counter');
   * await locks.mutex('counter').run(async (lease) => fence.claim(lease.token)); // before the first read
   */
  claim(token: bigint): void {
    if (checkToken(token) < this.#newest) throw fencedError(this.#resource, token, this.#newest);
    this.#newest = token;
  }

  /**
   * Claims, and runs `write` in the same step. Returns its result.
   * @example
   * let counter = 0;
   * const fence = memoryFence('the counter');
   * await locks.mutex('counter').run(async (lease) => fence.write(lease.token, () => ++counter));
   */
  write<T>(token: bigint, write: () => T): T {
    this.claim(token);
    return write();
  }
}

/**
 * A guard for something in this process.
 * @param resource its name, for messages
 * @example
 * const fence = memoryFence('the counter');
 * fence.claim(7n); // 6n is refused from now on: LOCK_FENCED
 */
export const memoryFence = (resource = 'this resource'): MemoryFence => new MemoryFence(resource);
