import { isExclusive } from '../../core/admission.ts';
import type { Attempt, Backend, Claim, Finding, Handle, Release, Renewal, Traits } from '../../core/backend.ts';
import { type Clock, systemClock } from '../../core/clock.ts';
import { LONGEST } from '../../core/duration.ts';
import { invalid, isLockError, shown } from '../../core/errors.ts';
import { checkNames } from '../../core/options.ts';
import { ServerClock } from '../../core/server-clock.ts';
import { AdvisoryHolds, type Hold } from './advisory-holds.ts';
import { lockNumber } from './advisory-lock.ts';
import { openAdvisory } from './advisory-session.ts';
import { type AdvisoryStatements, advisoryStatements, granted, leastOf } from './advisory-statements.ts';
import { AdvisoryWaits, type Wake } from './advisory-waits.ts';
import { findings } from './check.ts';
import { checkPool, type Dial, dialLike, isTrue, type PgPool } from './client.ts';
import { refusal } from './errors.ts';
import { type Naming, naming } from './names.ts';
import { Server } from './server.ts';
import { Sessions } from './sessions.ts';
import { advisorySetup } from './sql.generated.ts';

const TRAITS: Traits = {
  seats: 'shared',
  fair: false,
  fencing: 'durable',
  spans: false,
  wakes: 'watch',
  lapses: false,
  keptBy: 'session',
  ttl: { min: 10, max: LONGEST },
};

/** Fewer than two, and a wait would leave none to ask on. */
const SESSIONS = { min: 2, max: 1_000, default: 10 };

/** Options of `postgresAdvisory`. */
export interface AdvisoryOptions extends Naming {
  /**
   * Sessions at most, outside the pool: 2 to 1,000, default 10. One less may wait on the server at a time; more waiters ask again
   * and again.
   */
  readonly sessions?: number;
  /** `auto` (default): the sequence that tokens come from is made on first use. `manual`: only by `setup()`, or by you. */
  readonly setup?: 'auto' | 'manual';
  /** Makes a connection, past any transaction pooler. By default one like the pool's. */
  readonly connect?: Dial;
  /** Says that a pooler in between pools whole sessions. Without it any pooler that is noticed is refused. */
  readonly pooler?: 'session';
  /** Time and randomness; the machine's by default. */
  readonly clock?: Clock;
}

const KNOWN = new Set(['prefix', 'schema', 'sessions', 'setup', 'connect', 'pooler', 'clock']);

/** Locks of sessions, with what makes their sequence. */
export interface AdvisoryBackend extends Backend {
  /**
   * Makes what is missing. Safe to run again, and by many processes at once. Needs the right to create.
   * @example await postgresAdvisory(pool, { setup: 'manual' }).setup(); // in a migration
   */
  setup(): Promise<void>;
}

/**
 * Session locks of PostgreSQL on connections of our own: free at once when a process or its connection dies, waited for on
 * the server. They live in the server's memory, so they cost no write but the token's; and nothing of them survives it.
 * @throws LockError `LOCK_INVALID` when it is no pool, or for a bad option
 * @example
 * import pg from 'pg';
 * const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
 * const locks = createLocks(postgresAdvisory(pool));
 */
export function postgresAdvisory(pool: PgPool, options: AdvisoryOptions = {}): AdvisoryBackend {
  checkNames(options, KNOWN, 'options of postgresAdvisory()');
  return new Advisory(checkPool(pool), options);
}

class Advisory implements AdvisoryBackend {
  readonly name = 'postgres-advisory';
  readonly traits = TRAITS;
  readonly #prefix: string;
  readonly #named: (script: string) => string;
  readonly #texts: AdvisoryStatements;
  readonly #server: Server;
  readonly #serverClock: ServerClock;
  readonly #sessions: Sessions;
  readonly #holds = new AdvisoryHolds();
  readonly #waits: AdvisoryWaits;

  constructor(pool: PgPool, options: AdvisoryOptions) {
    const { sessions = SESSIONS.default, setup = 'auto', clock = systemClock } = options;
    if (!Number.isInteger(sessions) || sessions < SESSIONS.min || sessions > SESSIONS.max) {
      throw invalid(`sessions is ${shown(sessions)}; give a whole number from ${SESSIONS.min} to ${SESSIONS.max}`);
    }
    const dial = options.connect ?? dialLike(pool);
    if (!dial) throw invalid('this pool does not tell how to open a connection like its own; give `connect`');
    this.#prefix = options.prefix ?? 'holdfast';
    this.#named = naming(options);
    this.#texts = advisoryStatements(this.#named);
    this.#server = new Server(pool, clock, this.name);
    this.#serverClock = new ServerClock(clock);
    const need = {
      backend: this.name,
      tokens: this.#named("SELECT last_value, '{token}(bigint)'::regprocedure FROM {tokens}"),
      create: setup === 'auto' ? () => this.setup() : undefined,
      sessionPooler: options.pooler === 'session',
    };
    this.#sessions = new Sessions(() => openAdvisory(dial, clock, this.#serverClock, need), sessions);
    this.#waits = new AdvisoryWaits(this.#sessions, this.#holds, this.#texts, clock);
  }

  attempt(claim: Claim): Promise<Attempt> {
    const lock = lockNumber(this.#prefix, claim.key);
    const mine = this.#holds.get(lock, claim.id);
    return mine ? mine.asked : this.#attempt(lock, claim);
  }

  async #attempt(lock: string, claim: Claim): Promise<Attempt> {
    if (this.#waits.has(claim.id)) return { granted: false };
    const shared = !isExclusive(claim);
    if (!this.#holds.admits(lock, shared)) return { granted: false };
    const hold: Hold = { shared, asked: Promise.resolve().then(() => this.#ask(lock, hold, claim)) };
    this.#holds.keep(lock, claim.id, hold);
    const answer = await hold.asked;
    if (!answer.granted && !answer.late) await this.#waits.begin(lock, claim);
    return answer;
  }

  async #ask(lock: string, hold: Hold, claim: Claim): Promise<Attempt> {
    const { id, key, within } = claim;
    try {
      const desk = await this.#sessions.toAsk();
      hold.desk = desk;
      const values = [lock, leastOf(claim), this.#serverClock.in(within) ?? null];
      const [row] = await desk.session.query(this.#texts(hold.shared).attempt, values);
      this.#serverClock.learn(Number(row!.server_time));
      if (row!.ticket) return granted(row!, desk);
      this.#holds.forget(lock, id);
      return isTrue(row!.late) ? { granted: false, late: true } : { granted: false };
    } catch (error) {
      // It may have been taken or not. Where a reader's is there too, nobody can tell whose a lock that is freed was.
      if (this.#holds.beside(lock, hold)) hold.desk!.session.cut();
      else await this.#unlock(lock, hold).catch(() => {});
      this.#holds.forget(lock, id);
      throw refusal(error, this.name, 'an attempt', key);
    }
  }

  async renew(claims: readonly Claim[]): Promise<Renewal[]> {
    return claims.map(({ key, id }) =>
      this.#holds.get(lockNumber(this.#prefix, key), id) ? { validFor: Number.POSITIVE_INFINITY } : 'gone',
    );
  }

  async release({ key, id }: Handle, next?: Claim): Promise<Release> {
    const lock = lockNumber(this.#prefix, key);
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
    return this.#waits.watch(lockNumber(this.#prefix, claim.key), claim, wake);
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
    return this.#server.script(this.#named(advisorySetup), 'setting up the sequence');
  }

  async close(): Promise<void> {
    await this.#waits.close();
    this.#server.close();
    await this.#sessions.close();
  }

  /** Gives back what a hold may have; where that cannot be told, the session goes, and the lock with it. */
  async #unlock(lock: string, { desk, shared }: Hold): Promise<boolean> {
    if (!desk) return false;
    try {
      const [row] = await desk.session.query(this.#texts(shared).unlock, [lock]);
      return isTrue(row!.freed);
    } catch (error) {
      desk.session.cut();
      throw error;
    }
  }
}
