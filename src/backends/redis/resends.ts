import type { Release } from '../../core/contract/backend.ts';
import type { Port } from './port.ts';
import type { Shards } from './shards.ts';

/** Knows whether the client may have sent a request twice: ioredis sends again what a lost connection did not answer. */
export class Resends {
  /** How often it may have. */
  count = 0;
  readonly #end: (() => void) | undefined;

  constructor(port: Port) {
    this.#end = port.onResend?.(() => this.count++);
  }

  /**
   * Gives the answer to a request that does nothing a second time.
   * @param did whether it did something, by this answer
   * @throws Error where it may have done it the first time: that is unknown
   */
  async once<T>(ask: () => Promise<T>, did: (answer: T) => boolean): Promise<T> {
    const { count } = this;
    const answer = await ask();
    return count === this.count || did(answer) ? answer : unknown();
  }

  close(): void {
    this.#end?.();
  }
}

function unknown(): never {
  throw new Error('the connection was lost and the client sent it again: nobody knows what it did the first time');
}

/**
 * Gives the answer to a release that was sent twice and found nothing. A server that still knows the key has lost nothing, so the first one
 * freed it.
 */
export async function freedBefore(shards: Shards, key: string, answer: Release): Promise<Release> {
  return (await shards.find({ key })) === null ? unknown() : { ...answer, freed: true };
}
