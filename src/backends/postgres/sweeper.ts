import { Bell, type Cancel } from '../../core/index.ts';
import { repeat } from '../shared/repeat.ts';
import type { Server } from './server.ts';
import { take } from './statements.ts';

/** ms between two sweeps, over all processes, and how long a key must be out of use to be swept. */
const SWEEP_MS = 60_000;
export const IDLE_MS = 600_000;
/** The least pause between two parts of a sweep, ms. It is as long as the last part took, so that the server has half of its time. */
const MIN_REST_MS = 2;

/** Removes what nobody uses any more, part by part. About once a minute, one of the processes goes through the table. */
export class Sweeper {
  readonly #server: Server;
  /** One for each sweep under way. */
  readonly #bells = new Set<Bell>();
  #stop: Cancel = () => {};
  #closed = false;

  constructor(server: Server) {
    this.#server = server;
  }

  /** Every process asks; the table lets one in. */
  begin(): void {
    const { clock } = this.#server;
    if (!this.#closed) {
      const pause = () => SWEEP_MS * (0.5 + clock.random());
      this.#stop = repeat(clock, pause, () => this.sweep(IDLE_MS, SWEEP_MS));
    }
  }

  /** @param every 0: now, since a caller waits for it. @returns how many keys were removed */
  async sweep(idle: number, every: number): Promise<number> {
    const { clock } = this.#server;
    const bell = new Bell(clock);
    this.#bells.add(bell);
    try {
      let removed = 0;
      for (let page: string | undefined = '0'; page && !this.#closed; ) {
        const began = clock.now();
        const answer = await take(this.#server, 'sweep', [every, idle, page]);
        const [gone, next] = answer.split(',');
        removed += Number(gone);
        page = next;
        if (page) await bell.sleep(Math.max(MIN_REST_MS, clock.now() - began), every > 0);
      }
      return removed;
    } finally {
      this.#bells.delete(bell);
    }
  }

  close(): void {
    this.#closed = true;
    this.#stop();
    for (const bell of this.#bells) bell.ring();
  }
}
