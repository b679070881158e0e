import { createHash } from 'node:crypto';
import {
  type Attempt,
  type Backend,
  type Claim,
  type Finding,
  type Handle,
  isExclusive,
  isLockError,
  LONGEST,
  type Release,
  type Renewal,
  systemClock,
  type Traits,
  type Wake,
} from '../../core/index.ts';
import {
  type AdvisoryHold,
  AdvisoryHolds,
  type AdvisoryStatements,
  advisoryStatements,
  grantOf,
  minTokenOf,
} from './advisory-holds.ts';
import { AdvisorySessions, openAdvisory } from './advisory-sessions.ts';
import { AdvisoryWaits } from './advisory-waits.ts';
import { findings } from './check.ts';
import { checkSessions } from './clients.ts';
import { refusal } from './errors.ts';
import { type AdvisoryOptions, checkAdvisory, naming, sessionsOf } from './options.ts';
import { checkPool, dialOf, isTrue, type PgPool } from './pool.ts';
import { makeAndTell, setupAdvisory } from './schema.ts';
import { Server } from './server.ts';

const TRAITS: Traits = {
  units: 'shared',
  fair: false,
  fencing: 'durable',
  tokenBlocks: false,
  wakes: 'watch',
  expires: false,
  lifetime: 'session',
  ttl: { min: 10, max: LONGEST },
};

/** Locks of sessions, with what makes their sequence. */
export interface AdvisoryBackend extends Backend {
  /**
   * Makes what is missing. Safe to run again, and by many processes at once. Needs the right to create.
   * @example await postgresAdvisory(pool, { setup: 'manual' }).setup(); // in a migration
   */
  setup(): Promise<void>;
}

/**
 * Session locks of PostgreSQL, on connections of our own. A lock is free at once when its process or its connection dies, and waiters
 * wait on the server. The locks live in the server's memory: they cost no write but the token's, and do not outlive the server.
 * @throws LockError `LOCK_INVALID` when it is no pool, or for a bad option
 * @example
 * import pg from 'pg';
 * const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
 * const locks = createLocks(postgresAdvisory(pool));
 */
export function postgresAdvisory(pool: PgPool, options: AdvisoryOptions = {}): AdvisoryBackend {
  checkAdvisory(options);
  checkSessions(pool);
  return new Advisory(checkPool(pool), options);
}

class Advisory implements AdvisoryBackend {
  readonly name = 'postgres-advisory';
  readonly traits = TRAITS;
  readonly #prefix: string;
  readonly #server: Server;
  readonly #texts: AdvisoryStatements;
  readonly #sessions: AdvisorySessions;
  readonly #holds = new AdvisoryHolds();
  readonly #waits: AdvisoryWaits;

  constructor(pool: PgPool, options: AdvisoryOptions) {
    const { prefix = 'holdfast', setup = 'auto', clock = systemClock, connect, pooler } = options;
    const limit = sessionsOf(options);
    const dial = dialOf(pool, connect);
    const server = new Server(pool, naming(options), clock, this.name);
    const create = setup === 'auto' ? () => makeAndTell(server, setupAdvisory) : undefined;
    this.#prefix = prefix;
    this.#server = server;
    this.#texts = advisoryStatements(server.named);
    this.#sessions = new AdvisorySessions(() => openAdvisory(dial, server, pooler === 'session', create), limit);
    this.#waits = new AdvisoryWaits(this.#sessions, this.#holds, this.#texts, clock);
  }

  attempt(claim: Claim): Promise<Attempt> {
    const lock = this.#lockOf(claim.key);
    const mine = this.#holds.get(lock, claim.id);
    return mine ? mine.asked : this.#attempt(lock, claim);
  }

  async #attempt(lock: string, claim: Claim): Promise<Attempt> {
    if (this.#waits.has(claim.id)) return { granted: false };
    const shared = !isExclusive(claim);
    if (!this.#holds.admits(lock, shared)) return { granted: false };
    const hold: AdvisoryHold = { shared, asked: Promise.resolve().then(() => this.#ask(lock, hold, claim)) };
    this.#holds.keep(lock, claim.id, hold);
    const answer = await hold.asked;
    if (!answer.granted && !answer.late) await this.#waits.begin(lock, claim);
    return answer;
  }

  async #ask(lock: string, hold: AdvisoryHold, claim: Claim): Promise<Attempt> {
    const { id, key, within } = claim;
    try {
      const on = await this.#sessions.toAsk();
      hold.on = on;
      const values = [lock, minTokenOf(claim), this.#server.serverClock.in(within) ?? null];
      const [row] = await on.session.query(this.#texts(hold.shared).attempt, values);
      this.#server.serverClock.learn(Number(row!.server_time));
      if (row!.token) return grantOf(row!, on);
      this.#holds.forget(lock, id);
      return isTrue(row!.late) ? { granted: false, late: true } : { granted: false };
    } catch (error) {
      // The lock may have been taken or not. Where another reader has it on the same session, nobody can tell whose lock is freed.
      if (this.#holds.beside(lock, hold)) hold.on!.session.cut();
      else await this.#unlock(lock, hold).catch(() => {});
      this.#holds.forget(lock, id);
      throw refusal(error, this.name, 'an attempt', key);
    }
  }

  async renew(claims: readonly Claim[]): Promise<Renewal[]> {
    return claims.map(({ key, id }) =>
      this.#holds.get(this.#lockOf(key), id) ? { validFor: Number.POSITIVE_INFINITY } : 'gone',
    );
  }

  async release({ key, id }: Handle, next?: Claim): Promise<Release> {
    const lock = this.#lockOf(key);
    const waited = await this.#waits.dismiss(id);
    const hold = this.#holds.get(lock, id);
    let freed = waited;
    if (hold) {
      const answer = await hold.asked.catch(() => undefined);
      try {
        if (answer?.granted) freed = await this.#unlock(lock, hold);
      } finally {
        this.#holds.forget(lock, id);
      }
    }
    return { freed, next: next && (await this.attempt(next)) };
  }

  watch(claim: Claim, wake: Wake): Promise<AsyncDisposable> {
    return this.#waits.watch(this.#lockOf(claim.key), claim, wake);
  }

  async check(): Promise<Finding[]> {
    const found = await findings(this.#server);
    try {
      await this.#sessions.query('SELECT 1', []);
    } catch (error) {
      if (!isLockError(error)) throw error;
      found.push({ severity: 'danger', code: 'no-session', message: error.message, advice: 'See the message.' });
    }
    return found;
  }

  setup(): Promise<void> {
    return setupAdvisory(this.#server);
  }

  async close(): Promise<void> {
    await this.#waits.close();
    this.#server.close();
    await this.#sessions.close();
  }

  /** Gives back what a hold may have. If that fails, the session is ended, and the lock with it. */
  async #unlock(lock: string, { on, shared }: AdvisoryHold): Promise<boolean> {
    if (!on) return false;
    try {
      const [row] = await on.session.query(this.#texts(shared).unlock, [lock]);
      return isTrue(row!.freed);
    } catch (error) {
      on.session.cut();
      throw error;
    }
  }

  /**
   * The number of a key's advisory lock: 64 bits of SHA-256, as a signed decimal, since a JavaScript number has fewer bits. Other
   * programs in the same database use the same numbers. That two names get one number by chance takes billions of names; these two
   * then only exclude each other.
   */
  #lockOf(key: string): string {
    // A prefix has no NUL, so no other pair of prefix and key gives the same text.
    return createHash('sha256').update(`${this.#prefix}\0${key}`).digest().readBigInt64BE(0).toString();
  }
}
