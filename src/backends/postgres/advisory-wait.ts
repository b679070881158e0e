import type { Cancel, Clock } from '../../core/index.ts';
import { repeat } from '../shared/repeat.ts';
import type { AdvisorySession, AdvisorySessions } from './advisory-sessions.ts';
import type { Row } from './pool.ts';

/** ms until a cancellation that had no effect is sent again, and how often. It may arrive before the statement that it cancels. */
const AGAIN = 50;
const CANCELLATIONS = 5;
/** ms between two looks, from another session, at whether the server still knows the one that waits. */
export const LOOK = 10_000;

/** One blocking statement on a session of its own, and the way out of it. */
export class AdvisoryWait {
  readonly #sessions: AdvisorySessions;
  readonly #on: AdvisorySession;
  readonly #clock: Clock;
  readonly #outcome: Promise<Row | undefined>;
  #over = false;
  readonly #stopLooking: Cancel;
  #cancelled: Promise<void> | undefined;

  /** @param settle hears of the grant, or that the wait failed. It does not hear of a wait that was cancelled. */
  constructor(
    sessions: AdvisorySessions,
    on: AdvisorySession,
    clock: Clock,
    [text, values]: readonly [string, unknown[]],
    settle: (grant: Row | undefined) => void,
  ) {
    this.#sessions = sessions;
    this.#on = on;
    this.#clock = clock;
    this.#outcome = on.session.wait(text, values).then(
      ([row]) => row,
      () => undefined,
    );
    // Without a look, a wait on a connection that broke silently would never end.
    this.#stopLooking = repeat(
      clock,
      () => LOOK,
      () => this.#look(),
    );
    this.#outcome.then((row) => {
      this.#over = true;
      this.#stopLooking();
      if (this.#cancelled) return;
      // A wait that failed by itself leaves a session that nobody can trust.
      if (row) on.load++;
      else on.session.cut();
      on.waiting = false;
      settle(row);
    });
  }

  /** Resolves when the statement is over, what it may have taken is given back, and no cancellation can hit another statement. */
  cancel(): Promise<void> {
    if (!this.#over) this.#cancelled ??= this.#cancel();
    return this.#cancelled ?? Promise.resolve();
  }

  async #cancel(): Promise<void> {
    const { session } = this.#on;
    try {
      for (let sent = 0; !this.#over && sent <= CANCELLATIONS; sent++) {
        const end = sent < CANCELLATIONS ? 'pg_cancel_backend' : 'pg_terminate_backend';
        const found = await this.#there(`${end}(pid)`);
        if (found.length === 0) break; // it is gone, or this is another server by now
        await this.#overWithin(AGAIN * 2 ** sent);
      }
    } catch {
      // No session can be asked to end it: it ends with its connection.
    }
    if (!this.#over) session.cut();
    await this.#outcome;
    // A wait that is granted as it is cancelled may report either, and leave the lock behind in both cases.
    if (!session.ended.aborted) await session.query('SELECT pg_advisory_unlock_all()').catch(() => session.cut());
    this.#on.waiting = false;
  }

  async #look(): Promise<void> {
    const found = await this.#there('').catch(() => []);
    if (!this.#over && found.length === 0) this.#on.session.cut();
  }

  /** Acts on the session that waits, from another one. @returns a row if the session is there */
  #there(act: string): Promise<Row[]> {
    const { pid, started } = this.#on;
    // A role other than the one that logged in may not see when a session began. Then the server's start must do.
    const began = 'coalesce(backend_start, pg_postmaster_start_time())';
    const where = `pid = $1 AND extract(epoch FROM ${began})::text = $2`;
    return this.#sessions.query(`SELECT ${act} FROM pg_stat_activity WHERE ${where}`, [pid, started]);
  }

  async #overWithin(ms: number): Promise<void> {
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const cancel = this.#clock.after(ms, resolve);
    await Promise.race([this.#outcome, late]);
    cancel();
  }
}
