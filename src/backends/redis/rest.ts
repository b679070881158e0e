import { RELEASE } from './scripts.generated.ts';
import type { Shards } from './shards.ts';
import { readFreed, releaseArgs } from './wire.ts';

/** An id that no claim has. Its release frees nothing, and continues the work at which the last script stopped. */
const NOBODY = '-';

/**
 * What a release leaves to do where a line is too long for one script: dead places to pass, readers to admit. Should it fail or
 * this process end, whoever asks for the key next goes on with it.
 */
export class Rest {
  readonly #shards: Shards;
  readonly #remember: number;
  readonly #keys = new Set<string>();
  #closed = false;

  constructor(shards: Shards, remember: number) {
    this.#shards = shards;
    this.#remember = remember;
  }

  /** In the background. */
  pass(key: string): void {
    if (this.#closed || this.#keys.has(key)) return;
    this.#keys.add(key);
    void this.#pass(key)
      .catch(() => {})
      .finally(() => this.#keys.delete(key));
  }

  async #pass(key: string): Promise<void> {
    const asked = { key, args: releaseArgs(NOBODY, this.#remember) };
    while (!this.#closed && readFreed(await this.#shards.askOne(RELEASE, asked)).more);
  }

  close(): void {
    this.#closed = true;
  }
}
