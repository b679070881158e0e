import { meaning } from './errors.ts';
import { digits } from './layout.ts';
import { EVICT, RELEASE } from './scripts.generated.ts';
import { type Shards, unknownEffect } from './server.ts';
import { readFreed, releaseArgs } from './wire.ts';

/** An id that no claim has. Its release frees nothing, and continues the work of the last script. */
const NO_CLAIM = '-';

/**
 * Evicts claims, and finishes releases in long queues: one script skips only some dead claims, and admits only some readers. If a further script
 * fails, or this process ends, the next request for the key continues the work.
 */
export class Releases {
  readonly #shards: Shards;
  /** The keys whose releases are being finished. */
  readonly #unfinished = new Set<string>();
  #closed = false;

  constructor(shards: Shards) {
    this.#shards = shards;
  }

  /**
   * Decides what a release did if it found no claim, but may have been sent twice. A server that still knows the key has lost no data, so the first
   * of the two freed the claim.
   * @throws Error if the key is gone: the effect is unknown
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
      this.#unfinished.delete(key); // at once after the last answer: if later, `finish` could skip a key that has new work
    }
  }

  close(): void {
    this.#closed = true;
  }
}
