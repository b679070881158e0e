import type { Backend, Handle } from '../../core/backend.ts';
import type { Link } from './link.ts';

/** Pauses between tries: the first, doubled up to the last. ms. */
const FIRST_PAUSE = 50;
const LAST_PAUSE = 2_000;

/** Releases at one node: again and again, until the node says so or what it may have given must have lapsed. */
export class Releases {
  readonly #backend: Backend;
  readonly #link: Link;
  /** What ends the pauses that are under way; undefined once closed. */
  #pauses: Set<() => void> | undefined = new Set();

  constructor(backend: Backend, link: Link) {
    this.#backend = backend;
    this.#link = link;
  }

  /**
   * @param lapse ms after which it must have lapsed
   * @param told hears of the first try: whether it freed something, undefined where nobody knows
   */
  begin(handle: Handle, within: number, lapse: number, told: (freed: boolean | undefined) => void): void {
    const sent = this.#link.clock.now();
    this.#try(handle, within, sent, FIRST_PAUSE, sent + lapse, told);
  }

  close(): void {
    for (const end of this.#pauses ?? []) end();
    this.#pauses = undefined;
  }

  #try(
    handle: Handle,
    within: number,
    sent: number,
    pause: number,
    until: number,
    told?: (freed: boolean | undefined) => void,
  ): void {
    const { clock } = this.#link;
    this.#link.ask(() => this.#backend.release(handle), within, sent, {
      answered: ({ freed }) => told?.(freed),
      failed: () => {
        told?.(undefined);
        if (!this.#pauses || clock.now() >= until) return;
        const again = (): void => {
          this.#pauses?.delete(end);
          this.#try(handle, within, clock.now(), Math.min(pause * 2, LAST_PAUSE), until);
        };
        const end = clock.after(pause, again, true);
        this.#pauses.add(end);
      },
    });
  }
}
