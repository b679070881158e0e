import { type Claim, type Grant, isExclusive, withLimit } from '../../core/index.ts';
import { repeat } from '../shared/repeat.ts';
import type { LockSession } from '../shared/session-locks.ts';
import { isTrue, type PoolRow } from './pool.ts';
import type { Server } from './server.ts';
import type { Session } from './session.ts';
import { advisoryAttempt, advisoryUnlock, advisoryWait } from './sql.generated.ts';

/** The first pause before a cancellation is sent again, ms, and how often at most: a cancellation that comes before its statement has no effect. */
const RECANCEL_MS = 50;
const MAX_CANCELLATIONS = 5;
/** ms between two looks at whether a session that waits is still there. Another session looks. */
export const LOOK_INTERVAL_MS = 10_000;

/** Sends a statement on another session, one that does not wait. */
export type AskElsewhere = (text: string, values: unknown[]) => Promise<PoolRow[]>;

/** A session that has many advisory locks; or that waits for one lock, and can send nothing meanwhile. */
export class AdvisorySession implements LockSession {
  /** The number of locks that the session holds or asks for. */
  load = 0;
  /** Whether a wait blocks the session, so nothing else can be sent. */
  waiting = false;
  readonly session: Session;
  readonly #process: readonly [pid: number, started: string];
  readonly #server: Server;
  readonly #ask: AskElsewhere;
  /** The row of the last wait; undefined unless the lock was granted. */
  #outcome: Promise<PoolRow | undefined> | undefined;
  #over = true;
  #cancelled: Promise<void> | undefined;

  /** @param process the number of the session's process, and when the process began: after a fail-over, another process may have this number */
  constructor(session: Session, process: readonly [pid: number, started: string], server: Server, ask: AskElsewhere) {
    this.session = session;
    this.#process = process;
    this.#server = server;
    this.#ask = ask;
  }

  get ended(): AbortSignal {
    return this.session.ended;
  }

  async take(lock: string, claim: Claim): Promise<Grant | 'late' | undefined> {
    const { serverClock, named } = this.#server;
    const values = [...argumentsOf(lock, claim), serverClock.in(claim.within) ?? null];
    const [row] = await this.session.query(named(advisoryAttempt), values);
    serverClock.learn(Number(row!.server_time));
    if (row!.token) return this.#grantOf(row!);
    return isTrue(row!.late) ? 'late' : undefined;
  }

  async wait(lock: string, claim: Claim): Promise<Grant | undefined> {
    this.#over = false;
    this.#cancelled = undefined;
    const answer = this.session.wait(this.#server.named(advisoryWait), argumentsOf(lock, claim));
    this.#outcome = answer
      .then(([row]) => row)
      .catch(() => undefined)
      .finally(() => {
        this.#over = true;
      });
    // Without these looks, a wait on a connection that broke silently would never end.
    const pause = (): number => LOOK_INTERVAL_MS;
    const stopLooking = repeat(this.#server.clock, pause, () => this.#look());
    const row = await this.#outcome;
    stopLooking();
    if (this.#cancelled) {
      await this.#cancelled;
      return undefined;
    }
    // If the wait failed without a cancellation, nobody knows which locks the session has.
    if (row) this.load++;
    else this.cut();
    this.waiting = false;
    return row && this.#grantOf(row);
  }

  /** Resolves when the wait is over, the lock that the wait may have taken is free, and no cancellation can hit a later statement. */
  cancel(): Promise<void> {
    if (!this.#over) this.#cancelled ??= this.#cancel();
    return this.#cancelled ?? Promise.resolve();
  }

  async unlock(lock: string, shared: boolean): Promise<boolean> {
    const [row] = await this.session.query(advisoryUnlock, [lock, shared]);
    return isTrue(row!.freed);
  }

  cut(): void {
    this.session.cut();
  }

  async #cancel(): Promise<void> {
    try {
      for (let sent = 0; !this.#over && sent <= MAX_CANCELLATIONS; sent++) {
        const end = sent < MAX_CANCELLATIONS ? 'pg_cancel_backend' : 'pg_terminate_backend';
        const found = await this.#there(`${end}(pid)`);
        if (found.length === 0) break; // the session has ended, or this is another server by now
        await withLimit(this.#outcome!, RECANCEL_MS * 2 ** sent, Error, this.#server.clock).catch(() => {}); // the wait goes on: cancel again
      }
    } catch {
      // No other session could end the wait, so the connection is cut.
    }
    if (!this.#over) this.cut();
    await this.#outcome;
    // If the lock is granted as the cancellation arrives, the answer may be a grant or an error: in both cases the session may have the lock.
    if (!this.ended.aborted) await this.session.query('SELECT pg_advisory_unlock_all()', []).catch(() => this.cut());
    this.waiting = false;
  }

  async #look(): Promise<void> {
    const found = await this.#there('').catch(() => []);
    if (!this.#over && found.length === 0) this.cut();
  }

  /** Runs `act` on another session, while this one waits; '' only looks. @returns a row if this session is still there */
  #there(act: string): Promise<PoolRow[]> {
    // If a role may not see when the session of another role began, the start of the server is taken instead.
    const began = 'coalesce(backend_start, pg_postmaster_start_time())';
    const where = `pid = $1 AND extract(epoch FROM ${began})::text = $2`;
    return this.#ask(`SELECT ${act} FROM pg_stat_activity WHERE ${where}`, [...this.#process]);
  }

  #grantOf({ token }: PoolRow): Grant {
    return { granted: true, token: BigInt(String(token)), validFor: Number.POSITIVE_INFINITY, lost: this.ended };
  }
}

/** The parameters of the statements: the lock, whether it is shared, and the lowest token allowed. */
const argumentsOf = (lock: string, { minToken, ...units }: Claim): unknown[] => [
  ...[lock, !isExclusive(units)],
  minToken === undefined ? null : String(minToken),
];
