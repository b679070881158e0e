import { type Claim, type Grant, isExclusive, withLimit } from '../../core/index.ts';
import type { LockSession } from '../shared/session-locks.ts';
import { isTrue, type PoolRow } from './pool.ts';
import type { Server } from './server.ts';
import type { Session } from './session.ts';
import { advisoryAttempt, advisoryUnlock, advisoryWait } from './sql.generated.ts';

/** The first pause before a cancellation is sent again, ms, and how often at most: a cancellation that comes before its statement has no effect. */
const RECANCEL_MS = 50;
const MAX_CANCELLATIONS = 5;
/** How long a wait may take to answer, ms: the server gives it 5 s. */
const MAX_WAIT_MS = 10_000;

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
    this.#outcome = this.#untilGranted(argumentsOf(lock, claim));
    const row = await this.#outcome;
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

  async #untilGranted(values: unknown[]): Promise<PoolRow | undefined> {
    try {
      while (!this.#cancelled) {
        const [row] = await this.session.query(this.#server.named(advisoryWait), values, MAX_WAIT_MS);
        if (row!.token) return row;
      }
    } catch {
    } finally {
      this.#over = true;
    }
    return undefined;
  }

  async #cancel(): Promise<void> {
    // If a role may not see when the session of another role began, the start of the server is taken instead.
    const cancel = `SELECT pg_cancel_backend(pid) FROM pg_stat_activity
      WHERE pid = $1 AND extract(epoch FROM coalesce(backend_start, pg_postmaster_start_time()))::text = $2`;
    try {
      for (let sent = 0; !this.#over && sent < MAX_CANCELLATIONS; sent++) {
        const found = await this.#ask(cancel, [...this.#process]);
        if (found.length === 0) break; // the session has ended, or this is another server by now
        await withLimit(this.#outcome!, RECANCEL_MS * 2 ** sent, Error, this.#server.clock).catch(() => {}); // the wait goes on: cancel again
      }
    } catch {}
    if (!this.#over) this.cut(); // no other session could end the wait
    await this.#outcome;
    // If the lock is granted as the cancellation arrives, the answer may be a grant or an error: in both cases the session may have the lock.
    if (!this.ended.aborted) await this.session.query('SELECT pg_advisory_unlock_all()').catch(() => this.cut());
    this.waiting = false;
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
