import type { Backend, Handle } from '../../core/contract/backend.ts';
import { Activity } from '../../core/engine/engine.ts';
import type { Link } from './link.ts';

/** Pauses between tries: the first, doubled up to the last. ms. */
const FIRST_PAUSE = 50;
const LAST_PAUSE = 2_000;

/** Releases at one node: again and again, until the node says so or what it may have given must have lapsed. */
export class Releases {
  readonly #backend: Backend;
  readonly #link: Link;
  readonly #pauses: Activity;

  constructor(backend: Backend, link: Link) {
    this.#backend = backend;
    this.#link = link;
    this.#pauses = new Activity(link.clock);
  }

  /**
   * @param lapse ms after which it must have lapsed
   * @param told hears of the first try: whether it freed something, undefined where nobody knows
   */
  begin(handle: Handle, within: number, lapse: number, told: (freed: boolean | undefined) => void): void {
    const sent = this.#link.clock.now();
    this.#link.ask(() => this.#backend.release(handle), within, sent, {
      answered: ({ freed }) => told(freed),
      failed: () => {
        told(undefined);
        void this.#again(handle, within, sent + lapse);
      },
    });
  }

  close(): void {
    void this.#pauses.quiet(0);
  }

  async #again(handle: Handle, within: number, until: number): Promise<void> {
    for (let pause = FIRST_PAUSE; this.#link.clock.now() < until; pause = Math.min(pause * 2, LAST_PAUSE)) {
      await this.#pauses.pause(pause, true);
      if (this.#pauses.over) return;
      try {
        await this.#link.answer(() => this.#backend.release(handle), within);
        return;
      } catch {}
    }
  }
}
