import { type Cancel, type Claim, type Clock, isExclusive, type Wake } from '../../core/index.ts';
import { repeat } from '../shared/repeat.ts';
import { type AdvisoryHolds, type AdvisoryStatements, grantOf, minTokenOf } from './advisory-holds.ts';
import type { AdvisorySession, AdvisorySessions } from './advisory-sessions.ts';
import type { Row } from './pool.ts';

/** A cancellation that had no effect is sent again after so long, and so often. It may arrive before the statement that it cancels. */
const RECANCEL_MS = 50;
const MAX_CANCELLATIONS = 5;
/** The time between two looks, from another session, at whether the server still knows the one that waits. */
export const LOOK_MS = 10_000;

/** One blocking statement on a session of its own, and the way out of it. */
class AdvisoryWait {
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
      () => LOOK_MS,
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
      for (let sent = 0; !this.#over && sent <= MAX_CANCELLATIONS; sent++) {
        const end = sent < MAX_CANCELLATIONS ? 'pg_cancel_backend' : 'pg_terminate_backend';
        const found = await this.#there(`${end}(pid)`);
        if (found.length === 0) break; // it is gone, or this is another server by now
        await this.#overWithin(RECANCEL_MS * 2 ** sent);
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

/** The claims that are watched, and those of them that wait on the server: as many as there are sessions for it. */
export class AdvisoryWaits {
  readonly #sessions: AdvisorySessions;
  readonly #holds: AdvisoryHolds;
  readonly #texts: AdvisoryStatements;
  readonly #clock: Clock;
  readonly #watchers = new Map<string, Wake>();
  /** Each stays until nothing is left of it on the server. */
  readonly #waits = new Map<string, AdvisoryWait>();

  constructor(sessions: AdvisorySessions, holds: AdvisoryHolds, texts: AdvisoryStatements, clock: Clock) {
    this.#sessions = sessions;
    this.#holds = holds;
    this.#texts = texts;
    this.#clock = clock;
  }

  has(id: string): boolean {
    return this.#waits.has(id);
  }

  async watch(lock: string, claim: Claim, wake: Wake): Promise<AsyncDisposable> {
    const { id } = claim;
    this.#watchers.set(id, wake);
    if (!this.#holds.get(lock, id)) await this.begin(lock, claim);
    return {
      [Symbol.asyncDispose]: async () => {
        if (this.#watchers.get(id) === wake) await this.dismiss(id);
      },
    };
  }

  /** Starts to wait on the server, if the claim is watched and a session is left for it. */
  async begin(lock: string, claim: Claim): Promise<void> {
    const { id } = claim;
    const isWanted = () => this.#watchers.has(id) && !this.#waits.has(id);
    const on = isWanted() && (await this.#sessions.toWait());
    if (!on) return;
    if (!isWanted()) {
      on.waiting = false;
      return;
    }
    const shared = !isExclusive(claim);
    const statement: [string, unknown[]] = [this.#texts(shared).wait, [lock, minTokenOf(claim)]];
    const settle = (row: Row | undefined) => {
      this.#waits.delete(id);
      const grant = row && grantOf(row, on);
      if (grant) this.#holds.keep(lock, id, { shared, on, asked: Promise.resolve(grant) });
      this.#watchers.get(id)?.(grant);
    };
    this.#waits.set(id, new AdvisoryWait(this.#sessions, on, this.#clock, statement, settle));
  }

  /** The watcher is removed first: a wait that is about to begin finds it gone, and does not start. */
  async dismiss(id: string): Promise<boolean> {
    this.#watchers.delete(id);
    const wait = this.#waits.get(id);
    await wait?.cancel();
    this.#waits.delete(id);
    return wait !== undefined;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#watchers.keys(), ...this.#waits.keys()].map((id) => this.dismiss(id)));
  }
}
