import { type Claim, type Grant, isExclusive, withLimit } from '../../core/index.ts';
import { repeat } from '../shared/repeat.ts';
import type { LockSession } from '../shared/session-locks.ts';
import { isTrue, type PoolRow } from './pool.ts';
import type { Server } from './server.ts';
import type { Session } from './session.ts';
import { advisoryAttempt, advisoryUnlock, advisoryWait } from './sql.generated.ts';

/** A cancellation that had no effect is sent again after so long, and so often. It may arrive before the statement that it cancels. */
const RECANCEL_MS = 50;
const MAX_CANCELLATIONS = 5;
/** The time between two looks, from another session, at whether the server still knows the one that waits. */
export const LOOK_INTERVAL_MS = 10_000;

/** A statement on a session that does not wait. */
export type AskElsewhere = (text: string, values: unknown[]) => Promise<PoolRow[]>;

/** A session that has many advisory locks, or blocks in a wait for one. */
export class AdvisorySession implements LockSession {
  /** Locks that it holds or asks for. */
  load = 0;
  /** A wait blocks it: nothing else can be sent. */
  waiting = false;
  readonly #session: Session;
  readonly #process: readonly [pid: number, started: string];
  readonly #server: Server;
  readonly #ask: AskElsewhere;
  /** The row of the last wait, when it was granted. */
  #outcome: Promise<PoolRow | undefined> | undefined;
  #over = true;
  #cancelled: Promise<void> | undefined;

  /** @param process its number, and when it began: on a server that took over, another process may have that number */
  constructor(session: Session, process: readonly [pid: number, started: string], server: Server, ask: AskElsewhere) {
    this.#session = session;
    this.#process = process;
    this.#server = server;
    this.#ask = ask;
  }

  get ended(): AbortSignal {
    return this.#session.ended;
  }

  query(text: string, values: unknown[]): Promise<PoolRow[]> {
    return this.#session.query(text, values);
  }

  async take(lock: string, claim: Claim): Promise<Grant | 'late' | undefined> {
    const { serverClock, named } = this.#server;
    const values = [...argumentsOf(lock, claim), serverClock.in(claim.within) ?? null];
    const [row] = await this.#session.query(named(advisoryAttempt), values);
    serverClock.learn(Number(row!.server_time));
    if (row!.token) return this.#grantOf(row!);
    return isTrue(row!.late) ? 'late' : undefined;
  }

  async wait(lock: string, claim: Claim): Promise<Grant | undefined> {
    this.#over = false;
    this.#cancelled = undefined;
    const answer = this.#session.wait(this.#server.named(advisoryWait), argumentsOf(lock, claim));
    this.#outcome = answer
      .then(([row]) => row)
      .catch(() => undefined)
      .finally(() => {
        this.#over = true;
      });
    // Without a look, a wait on a connection that broke silently would never end.
    const pause = (): number => LOOK_INTERVAL_MS;
    const stopLooking = repeat(this.#server.clock, pause, () => this.#look());
    const row = await this.#outcome;
    stopLooking();
    if (this.#cancelled) {
      await this.#cancelled;
      return undefined;
    }
    // A wait that failed by itself leaves a session that nobody can trust.
    if (row) this.load++;
    else this.cut();
    this.waiting = false;
    return row && this.#grantOf(row);
  }

  /** Resolves when the statement is over, what it may have taken is given back, and no cancellation can hit another statement. */
  cancel(): Promise<void> {
    if (!this.#over) this.#cancelled ??= this.#cancel();
    return this.#cancelled ?? Promise.resolve();
  }

  async unlock(lock: string, shared: boolean): Promise<boolean> {
    const [row] = await this.#session.query(advisoryUnlock, [lock, shared]);
    return isTrue(row!.freed);
  }

  cut(): void {
    this.#session.cut();
  }

  end(): Promise<void> {
    return this.#session.end();
  }

  async #cancel(): Promise<void> {
    try {
      for (let sent = 0; !this.#over && sent <= MAX_CANCELLATIONS; sent++) {
        const end = sent < MAX_CANCELLATIONS ? 'pg_cancel_backend' : 'pg_terminate_backend';
        const found = await this.#there(`${end}(pid)`);
        if (found.length === 0) break; // it is gone, or this is another server by now
        await withLimit(this.#outcome!, RECANCEL_MS * 2 ** sent, Error, this.#server.clock).catch(() => {}); // it may last
      }
    } catch {
      // No session can be asked to end it: it ends with its connection.
    }
    if (!this.#over) this.cut();
    await this.#outcome;
    // A wait that is granted as it is cancelled may report either, and leave the lock behind in both cases.
    if (!this.ended.aborted) await this.query('SELECT pg_advisory_unlock_all()', []).catch(() => this.cut());
    this.waiting = false;
  }

  async #look(): Promise<void> {
    const found = await this.#there('').catch(() => []);
    if (!this.#over && found.length === 0) this.cut();
  }

  /** Acts on this session, while it waits, from another one. @returns a row if the session is there */
  #there(act: string): Promise<PoolRow[]> {
    // A role other than the one that logged in may not see when a session began. Then the server's start must do.
    const began = 'coalesce(backend_start, pg_postmaster_start_time())';
    const where = `pid = $1 AND extract(epoch FROM ${began})::text = $2`;
    return this.#ask(`SELECT ${act} FROM pg_stat_activity WHERE ${where}`, [...this.#process]);
  }

  #grantOf({ token }: PoolRow): Grant {
    return { granted: true, token: BigInt(String(token)), validFor: Number.POSITIVE_INFINITY, lost: this.ended };
  }
}

/** The lock, whether it is shared, and the lowest token allowed, as the statements take them. */
const argumentsOf = (lock: string, { minToken, ...units }: Claim): unknown[] => [
  ...[lock, !isExclusive(units)],
  minToken === undefined ? null : String(minToken),
];
