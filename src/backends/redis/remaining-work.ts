import { RELEASE } from './scripts.generated.ts';
import type { Shards } from './shards.ts';
import { readFreed, releaseArgs } from './wire.ts';

/** An id that no claim has. Its release frees nothing, and continues the work at which the last script stopped. */
const NO_CLAIM = '-';

/**
 * Finishes what a release left undone, because the line is too long for one script: it skips the places of dead claims, and admits readers.
 * If it fails, or this process ends, the next request for the key goes on with it.
 */
export class RemainingWork {
  readonly #shards: Shards;
  readonly #remember: number;
  readonly #keys = new Set<string>();
  #closed = false;

  constructor(shards: Shards, remember: number) {
    this.#shards = shards;
    this.#remember = remember;
  }

  /** Works in the background. */
  finish(key: string): void {
    if (this.#closed || this.#keys.has(key)) return;
    this.#keys.add(key);
    this.#finish(key).catch(() => {});
  }

  async #finish(key: string): Promise<void> {
    const request = { key, args: releaseArgs(NO_CLAIM, this.#remember) };
    try {
      while (!this.#closed && readFreed(await this.#shards.askOne(RELEASE, request)).more);
    } finally {
      this.#keys.delete(key); // this is done in the turn of the last answer: later, a key that has more to do by then would be passed over
    }
  }

  close(): void {
    this.#closed = true;
  }
}
