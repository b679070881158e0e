import type { Cancel, Clock } from '../../core/clock.ts';
import type { Statements } from './statements.ts';

/** ms between two sweeps, over all processes, and how long a key must be out of use to be swept. */
const EVERY = 60_000;
export const IDLE = 600_000;
/** ms between two parts of a sweep: as long as the last part took, and at least this, so that the server has half of its time. */
const REST = 2;

/** Removes what nobody uses any more, part by part: about once a minute one of the processes goes through the table. */
export class Sweeper {
  readonly #statements: Statements;
  readonly #clock: Clock;
  #cancel: Cancel = () => {};
  #closed = false;
  readonly #resting = new Set<() => void>();

  constructor(statements: Statements, clock: Clock) {
    this.#statements = statements;
    this.#clock = clock;
  }

  /** Every process asks, the table lets one in. A sweep that fails is made good by the next. */
  later(): void {
    if (this.#closed) return;
    const again = () => this.later();
    const pause = EVERY * (0.5 + this.#clock.random());
    this.#cancel = this.#clock.after(pause, () => this.sweep(IDLE, EVERY).then(again, again), true);
  }

  /** @param every 0: whoever waits for it wants it now. @returns how many keys were removed */
  async sweep(idle: number, every: number): Promise<number> {
    let removed = 0;
    for (let page: string | undefined = '0'; page && !this.#closed; ) {
      const began = this.#clock.now();
      const answer = await this.#statements.run('sweep', [every, idle, page], 'a sweep');
      const [gone, next] = answer.split(',');
      removed += Number(gone);
      page = next;
      if (page) await this.#rest(Math.max(REST, this.#clock.now() - began), every > 0);
    }
    return removed;
  }

  close(): void {
    this.#closed = true;
    this.#cancel();
    for (const wake of [...this.#resting]) wake();
  }

  #rest(ms: number, background: boolean): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        cancel();
        this.#resting.delete(wake);
        resolve();
      };
      const cancel = this.#clock.after(ms, wake, background);
      this.#resting.add(wake);
    });
  }
}
