import type { Backend, Handle } from '../../core/contract/backend.ts';
import { Activity } from '../../core/engine/engine.ts';
import type { Link } from './link.ts';

/** The pause after the first try, ms. Each later one is twice as long, up to the last. */
const FIRST_PAUSE = 50;
const LAST_PAUSE = 2_000;

/** Releases claims at one node. It tries again until the node confirms the release, or the claim must have expired. */
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
   * @param expiry ms after which the claim must have expired
   * @param onOutcome receives the outcome of the first try: whether it freed the claim; undefined if that is unknown
   */
  begin(handle: Handle, within: number, expiry: number, onOutcome: (freed: boolean | undefined) => void): void {
    const sent = this.#link.clock.now();
    this.#link.ask(() => this.#backend.release(handle), within, sent, {
      onAnswer: ({ freed }) => onOutcome(freed),
      onFailure: () => {
        onOutcome(undefined);
        void this.#retry(handle, within, sent + expiry);
      },
    });
  }

  close(): void {
    void this.#pauses.quiet(0);
  }

  async #retry(handle: Handle, within: number, until: number): Promise<void> {
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
