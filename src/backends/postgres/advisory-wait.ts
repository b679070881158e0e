import type { Cancel, Clock } from '../../core/clock.ts';
import type { Row } from './client.ts';
import type { Desk, Sessions } from './sessions.ts';

/** ms until a cancellation that had no effect is sent again, and how often: it may come before what it is to cancel. */
const AGAIN = 50;
const CANCELLATIONS = 5;
/** ms between two looks, from another session, at whether the server still knows the one that waits. */
export const LOOK = 10_000;

/** One blocking statement on a session of its own, and the way out of it. */
export class AdvisoryWait {
  readonly #sessions: Sessions;
  readonly #desk: Desk;
  readonly #clock: Clock;
  readonly #outcome: Promise<Row | undefined>;
  #over = false;
  #look: Cancel;
  #cancelled: Promise<void> | undefined;

  /** @param settle hears of the grant, or that the wait failed; never of one that was cancelled */
  constructor(
    sessions: Sessions,
    desk: Desk,
    clock: Clock,
    [text, values]: readonly [string, unknown[]],
    settle: (grant: Row | undefined) => void,
  ) {
    this.#sessions = sessions;
    this.#desk = desk;
    this.#clock = clock;
    this.#outcome = desk.session.wait(text, values).then(
      ([row]) => row,
      () => undefined,
    );
    this.#look = this.#lookLater();
    this.#outcome.then((row) => {
      this.#over = true;
      this.#look();
      if (this.#cancelled) return;
      // A wait that failed by itself leaves a session nobody can trust.
      if (row) desk.load++;
      else desk.session.cut();
      desk.waiting = false;
      settle(row);
    });
  }

  /** Resolves when the statement is over, what it may have taken is given back, and nothing can still hit another. */
  cancel(): Promise<void> {
    if (!this.#over) this.#cancelled ??= this.#cancel();
    return this.#cancelled ?? Promise.resolve();
  }

  async #cancel(): Promise<void> {
    const { session } = this.#desk;
    try {
      for (let sent = 0; !this.#over && sent <= CANCELLATIONS; sent++) {
        const end = sent < CANCELLATIONS ? 'pg_cancel_backend' : 'pg_terminate_backend';
        const found = await this.#there(`${end}(pid)`);
        if (found.length === 0) break; // gone, or this is another server by now
        await this.#overWithin(AGAIN * 2 ** sent);
      }
    } catch {
      // Nobody can be asked to end it: it goes with its connection.
    }
    if (!this.#over) session.cut();
    await this.#outcome;
    // Granted at the moment it is cancelled, a wait may report either, and leave the lock behind in both cases.
    if (!session.ended.aborted) await session.query('SELECT pg_advisory_unlock_all()').catch(() => session.cut());
    this.#desk.waiting = false;
  }

  /** A connection that broke without a word would wait for ever. */
  #lookLater(): Cancel {
    return this.#clock.after(LOOK, () => void this.#lookNow(), true);
  }

  async #lookNow(): Promise<void> {
    const found = await this.#there('').catch(() => []);
    if (this.#over) return;
    if (found.length > 0) this.#look = this.#lookLater();
    else this.#desk.session.cut();
  }

  /** Does something with the session that waits, from another one: a row if it is there. */
  #there(act: string): Promise<Row[]> {
    const { pid, started } = this.#desk;
    // A role that is not the one it logged in as may not see when a session began; the server's start has to do then.
    const began = 'coalesce(backend_start, pg_postmaster_start_time())';
    const where = `pid = $1 AND extract(epoch FROM ${began})::text = $2`;
    return this.#sessions.query(`SELECT ${act} FROM pg_stat_activity WHERE ${where}`, [pid, started]);
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
