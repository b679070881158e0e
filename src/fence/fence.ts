import { invalid, LockError, shown } from '../core/index.ts';

/**
 * A guard beside one resource. It remembers the highest token that it has seen, and refuses all older tokens.
 *
 * For read-modify-write it is not enough to guard the writes. First the new holder reads, then a stale holder writes, then the new holder
 * writes, so the update of the stale holder is lost. So call `claim(token)` before the first read, and again with each write.
 */
export interface Fence {
  /**
   * Raises the mark, the highest token seen, to `token`. The same token may be claimed again.
   * @throws LockError `LOCK_FENCED` when a newer token was seen
   * @example
   * const fence = redisFence(client, 'orders');
   * await locks.mutex('orders').run((lease) => fence.claim(lease.token)); // before the first read
   */
  claim(token: bigint): Promise<void>;
}

export function checkToken(token: unknown): bigint {
  if (typeof token === 'bigint' && token >= 0n) return token;
  throw invalid(`a fencing token is ${shown(token)}; give lease.token, a bigint`);
}

export function fencedError(resource: string, token: bigint, newest?: bigint): LockError {
  const seen = newest === undefined ? 'a newer one was seen' : `${newest} was seen`;
  return new LockError(
    'LOCK_FENCED',
    `${resource} refuses token ${token}: ${seen}. The lock was lost; stop, and take it again`,
  );
}

/** A guard for something in this process. Its calls are synchronous, so check and write are one step. */
export class MemoryFence {
  readonly #resource: string;
  #newest = -1n;

  constructor(resource: string) {
    this.#resource = resource;
  }

  /**
   * Raises the mark to `token`. Call it before the first read, and with each write.
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
