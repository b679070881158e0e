import type { Clock } from '../../core/clock.ts';
import type { Row } from './client.ts';
import type { Desk, Sessions } from './sessions.ts';

/** ms until a cancellation that had no effect is sent again, and how often: it may come before what it is to cancel. */
const AGAIN = 50;
const CANCELLATIONS = 5;

/** One blocking statement on a session of its own, and the way out of it. */
export class AdvisoryWait {
  readonly #sessions: Sessions;
  readonly #desk: Desk;
  readonly #clock: Clock;
  readonly #outcome: Promise<Row | undefined>;
  #over = false;
  #cancelled: Promise<void> | undefined;

  /** @param settle hears of the grant, or of nothing; whether anybody still wants to know is the other argument */
  constructor(
    sessions: Sessions,
    desk: Desk,
    clock: Clock,
    [text, values]: readonly [string, unknown[]],
    settle: (grant: Row | undefined, wanted: boolean) => void,
  ) {
    this.#sessions = sessions;
    this.#desk = desk;
    this.#clock = clock;
    this.#outcome = desk.session.wait(text, values).then(
      ([row]) => row,
      () => undefined,
    );
    this.#outcome.then((row) => {
      this.#over = true;
      if (row) desk.load++;
      if (!this.#cancelled) this.#leave(row);
      settle(row, !this.#cancelled);
    });
  }

  /** Resolves when the statement is over, and nothing that was sent to end it can still hit another. */
  cancel(): Promise<void> {
    if (!this.#over) this.#cancelled ??= this.#cancel();
    return this.#cancelled ?? Promise.resolve();
  }

  async #cancel(): Promise<void> {
    const { session, pid } = this.#desk;
    try {
      const other = await this.#sessions.toAsk();
      try {
        for (let sent = 0; !this.#over; sent++) {
          const end = sent < CANCELLATIONS ? 'pg_cancel_backend' : 'pg_terminate_backend';
          await other.session.query(`SELECT ${end}($1)`, [pid]);
          await this.#overWithin(AGAIN * 2 ** sent);
          if (sent === CANCELLATIONS) break;
        }
      } finally {
        other.load--;
      }
    } catch {
      session.cut();
    }
    if (!this.#over) session.cut();
    const row = await this.#outcome;
    // A cancelled wait may have left the lock behind: when it was granted at that very moment, the server reports either.
    if (!row && !session.ended.aborted)
      await session.query('SELECT pg_advisory_unlock_all()').catch(() => session.cut());
    this.#leave(row);
  }

  /** A wait that failed by itself leaves a session nobody can trust. */
  #leave(row: Row | undefined): void {
    if (!row && !this.#cancelled) this.#desk.session.cut();
    this.#desk.waiting = false;
  }

  async #overWithin(ms: number): Promise<void> {
    let cancel = (): void => {};
    const late = new Promise<void>((resolve) => {
      cancel = this.#clock.after(ms, resolve);
    });
    await Promise.race([this.#outcome, late]);
    cancel();
  }
}
