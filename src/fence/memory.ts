import { checkToken, fenced } from './fence.ts';

/** A guard for something in this process. Its checks are synchronous, so that check and write are one step. */
export class MemoryFence {
  readonly #resource: string;
  #newest = -1n;

  constructor(resource: string) {
    this.#resource = resource;
  }

  /**
   * Raises the mark to `token`: before the first read, and with every write.
   * @throws LockError `LOCK_FENCED` when a newer token was seen
   */
  claim(token: bigint): void {
    if (checkToken(token) < this.#newest) throw fenced(this.#resource, token, this.#newest);
    this.#newest = token;
  }

  /** Claims, and runs `write` in the same step; gives what it gives. */
  write<T>(token: bigint, write: () => T): T {
    this.claim(token);
    return write();
  }
}

/** @param resource its name, for messages */
export const memoryFence = (resource = 'this resource'): MemoryFence => new MemoryFence(resource);
