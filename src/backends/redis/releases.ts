import { meaning } from './errors.ts';
import { digits } from './layout.ts';
import { EVICT, RELEASE } from './scripts.generated.ts';
import { type Shards, unknownEffect } from './server.ts';
import { readFreed, releaseArgs } from './wire.ts';

/** An id that no claim has. Its release frees nothing, and continues the work at which the last script stopped. */
const NO_CLAIM = '-';

/**
 * Says what a release did, and finishes what its script left undone, because the queue is too long for one: to skip the places of dead
 * claims, and to admit readers. If that fails, or this process ends, the next request for the key goes on with it.
 */
export class Releases {
  readonly #shards: Shards;
  /** The keys with work under way. */
  readonly #unfinished = new Set<string>();
  #closed = false;

  constructor(shards: Shards) {
    this.#shards = shards;
  }

  /**
   * Tells of a release that was sent twice and found nothing. A server that still knows the key has lost nothing, so the first one freed it.
   */
  async freedBefore(key: string): Promise<true> {
    return (await this.#shards.find({ key })) === null ? unknownEffect() : true;
  }

  async evict(key: string, token: bigint): Promise<boolean> {
    for (let place = ''; ; ) {
      const request = { key, args: [digits(token), place, `${this.#shards.remember}`] };
      const ask = async (): Promise<string> => String(await this.#shards.askOne(EVICT, request));
      place = await this.#shards
        .once(ask, (reply) => reply !== '0')
        .catch((error) => {
          throw meaning(error, 'evict', key);
        });
      if (place.startsWith('h')) continue;
      const { freed, more } = readFreed(place);
      if (more) this.finish(key);
      return freed;
    }
  }

  finish(key: string): void {
    if (this.#closed || this.#unfinished.has(key)) return;
    this.#unfinished.add(key);
    this.#finish(key).catch(() => {});
  }

  async #finish(key: string): Promise<void> {
    const request = { key, args: releaseArgs(NO_CLAIM, this.#shards.remember) };
    try {
      while (!this.#closed && readFreed(await this.#shards.askOne(RELEASE, request)).more);
    } finally {
      this.#unfinished.delete(key); // this is done in the turn of the last answer: later, a key that has more to do by then would be passed over
    }
  }

  close(): void {
    this.#closed = true;
  }
}
