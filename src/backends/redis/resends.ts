import type { Release } from '../../core/contract/backend.ts';
import type { Port } from './port.ts';
import type { Shards } from './shards.ts';

/** Knows whether the client may have sent a request twice: ioredis sends again what a lost connection did not answer. */
export class Resends {
  #count = 0;
  readonly #end: (() => void) | undefined;

  constructor(port: Port) {
    this.#end = port.onResend?.(() => this.#count++);
  }

  /**
   * Gives the answer to a request that does nothing a second time.
   * @param did whether it did something, by this answer
   * @param instead gives the answer where it may have done it the first time; by default that is unknown
   */
  async once<T>(
    ask: () => Promise<T>,
    did: (answer: T) => boolean,
    instead: (answer: T) => T | Promise<T> = unknown,
  ): Promise<T> {
    const before = this.#count;
    const answer = await ask();
    return before === this.#count || did(answer) ? answer : instead(answer);
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
