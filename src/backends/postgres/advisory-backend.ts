import { isExclusive } from '../../core/admission.ts';
import type { Attempt, Backend, Claim, Finding, Grant, Handle, Release, Renewal, Traits } from '../../core/backend.ts';
import { type Clock, systemClock } from '../../core/clock.ts';
import { LONGEST } from '../../core/duration.ts';
import { invalid, isLockError, shown } from '../../core/errors.ts';
import { checkNames } from '../../core/options.ts';
import { ServerClock } from '../../core/server-clock.ts';
import { lockNumber } from './advisory-lock.ts';
import { openAdvisory } from './advisory-session.ts';
import { AdvisoryWait } from './advisory-wait.ts';
import { findings } from './check.ts';
import { checkPool, type Dial, dialLike, isTrue, type PgPool, type Row } from './client.ts';
import { refusal } from './errors.ts';
import { type Naming, naming } from './names.ts';
import { Server } from './server.ts';
import { type Desk, Sessions } from './sessions.ts';
import { advisoryAttempt, advisorySetup, advisoryWait } from './sql.generated.ts';

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
  /** Sessions at most, outside the pool. One less may wait on the server at a time; more waiters ask again and again. */
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
  /** Makes what is missing. Safe to run again, and by many processes at once. Needs the right to create. */
  setup(): Promise<void>;
}

type Wake = (grant?: Grant) => void;

/** What this process holds, or asks for, which nobody else here may ask for meanwhile. */
interface Hold {
  readonly shared: boolean;
  readonly asked: Promise<Attempt>;
  desk?: Desk;
}

/**
 * Session locks of PostgreSQL on connections of our own: free at once when a process or its connection dies, waited for on
 * the server. They live in the server's memory, so they cost no write but the token's; and nothing of them survives it.
 * @throws LockError `LOCK_INVALID` when it is no pool, or for a bad option
 */
export function postgresAdvisory(pool: PgPool, options: AdvisoryOptions = {}): AdvisoryBackend {
  checkNames(options, KNOWN, 'options of postgresAdvisory()');
  return new Advisory(checkPool(pool), options);
}

class Advisory implements AdvisoryBackend {
  readonly name = 'postgres-advisory';
  readonly traits = TRAITS;
  readonly #clock: Clock;
  readonly #prefix: string;
  readonly #named: (script: string) => string;
  readonly #texts: (shared: boolean) => Texts;
  readonly #server: Server;
  readonly #serverClock: ServerClock;
  readonly #sessions: Sessions;
  /** By lock and id: what this process holds or asks for. The same session would be let in twice, so we look here first. */
  readonly #holds = new Map<string, Map<string, Hold>>();
  readonly #watchers = new Map<string, Wake>();
  /** Until nothing of them is left. */
  readonly #waits = new Map<string, AdvisoryWait>();

  constructor(pool: PgPool, options: AdvisoryOptions) {
    const { sessions = SESSIONS.default, setup = 'auto', clock = systemClock } = options;
    if (!Number.isInteger(sessions) || sessions < SESSIONS.min || sessions > SESSIONS.max) {
      throw invalid(`sessions is ${shown(sessions)}; give a whole number from ${SESSIONS.min} to ${SESSIONS.max}`);
    }
    const dial = options.connect ?? dialLike(pool);
    if (!dial) throw invalid('this pool does not tell how to open a connection like its own; give `connect`');
    this.#clock = clock;
    this.#prefix = options.prefix ?? 'holdfast';
    this.#named = naming(options);
    const [exclusive, shared] = [texts('', this.#named), texts('_shared', this.#named)];
    this.#texts = (share) => (share ? shared : exclusive);
    this.#server = new Server(pool, clock, this.name);
    this.#serverClock = new ServerClock(clock);
    const need = {
      backend: this.name,
      tokens: this.#named("SELECT last_value, '{token}(bigint)'::regprocedure FROM {tokens}"),
      create: setup === 'auto' ? () => this.setup() : undefined,
      sessionPooler: options.pooler === 'session',
    };
    this.#sessions = new Sessions(() => openAdvisory(dial, clock, this.#serverClock, need), sessions);
  }

  attempt(claim: Claim): Promise<Attempt> {
    const lock = lockNumber(this.#prefix, claim.key);
    const mine = this.#living(lock).get(claim.id);
    return mine ? mine.asked : this.#attempt(lock, claim);
  }

  async #attempt(lock: string, claim: Claim): Promise<Attempt> {
    if (this.#waits.has(claim.id)) return { granted: false };
    const shared = !isExclusive(claim);
    if ([...this.#living(lock).values()].some((hold) => !(hold.shared && shared))) return { granted: false };
    const hold: Hold = { shared, asked: Promise.resolve().then(() => this.#ask(lock, hold, claim)) };
    this.#keep(lock, claim.id, hold);
    const answer = await hold.asked;
    if (!answer.granted && !answer.late) await this.#wait(lock, claim);
    return answer;
  }

  async #ask(lock: string, hold: Hold, { id, key, within, atLeast }: Claim): Promise<Attempt> {
    try {
      const desk = await this.#sessions.toAsk();
      hold.desk = desk;
      const values = [lock, least(atLeast), this.#serverClock.in(within) ?? null];
      const [row] = await desk.session.query(this.#texts(hold.shared).attempt, values);
      this.#serverClock.learn(Number(row!.server_time));
      if (row!.ticket) return granted(row!, desk);
      this.#forget(lock, id);
      return isTrue(row!.late) ? { granted: false, late: true } : { granted: false };
    } catch (error) {
      // It may have been taken or not. Where a reader's is there too, nobody can tell whose a lock that is freed was.
      if (this.#beside(lock, hold)) hold.desk!.session.cut();
      else await this.#unlock(lock, hold).catch(() => {});
      this.#forget(lock, id);
      throw refusal(error, this.name, 'an attempt', key);
    }
  }

  async renew(claims: readonly Claim[]): Promise<Renewal[]> {
    return claims.map(({ key, id }) =>
      this.#living(lockNumber(this.#prefix, key)).has(id) ? { validFor: Number.POSITIVE_INFINITY } : 'gone',
    );
  }

  async release({ key, id }: Handle, next?: Claim): Promise<Release> {
    const lock = lockNumber(this.#prefix, key);
    const waited = await this.#dismiss(id);
    const hold = this.#living(lock).get(id);
    let freed = waited;
    if (hold) {
      const answer = await hold.asked.catch(() => undefined);
      try {
        if (answer?.granted) freed = await this.#unlock(lock, hold);
      } finally {
        this.#forget(lock, id);
      }
    }
    return { freed, next: next && (await this.attempt(next)) };
  }

  async watch(claim: Claim, wake: Wake): Promise<AsyncDisposable> {
    this.#watchers.set(claim.id, wake);
    const lock = lockNumber(this.#prefix, claim.key);
    if (!this.#living(lock).has(claim.id)) await this.#wait(lock, claim);
    return {
      [Symbol.asyncDispose]: async () => {
        if (this.#watchers.get(claim.id) === wake) await this.#dismiss(claim.id);
      },
    };
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
    await Promise.all([...this.#watchers.keys(), ...this.#waits.keys()].map((id) => this.#dismiss(id)));
    this.#server.close();
    await this.#sessions.close();
  }

  /** Starts to wait on the server for whoever watches, where a session is left for it. */
  async #wait(lock: string, claim: Claim): Promise<void> {
    const { id } = claim;
    const wanted = () => this.#watchers.has(id) && !this.#waits.has(id);
    const desk = wanted() && (await this.#sessions.toWait());
    if (!desk) return;
    if (!wanted()) {
      desk.waiting = false;
      return;
    }
    const shared = !isExclusive(claim);
    const statement: [string, unknown[]] = [this.#texts(shared).wait, [lock, least(claim.atLeast)]];
    const settle = (row: Row | undefined) => {
      this.#waits.delete(id);
      const grant = row && granted(row, desk);
      if (grant) this.#keep(lock, id, { shared, desk, asked: Promise.resolve(grant) });
      this.#watchers.get(id)?.(grant);
    };
    this.#waits.set(id, new AdvisoryWait(this.#sessions, desk, this.#clock, statement, settle));
  }

  /** The watcher goes first: a wait that is only being prepared finds it gone, and does not start. */
  async #dismiss(id: string): Promise<boolean> {
    this.#watchers.delete(id);
    const wait = this.#waits.get(id);
    await wait?.cancel();
    this.#waits.delete(id);
    return wait !== undefined;
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

  /** Whether others have the same lock, or ask for it, on the same session. */
  #beside(lock: string, { desk }: Hold): boolean {
    return desk !== undefined && [...this.#living(lock).values()].filter((hold) => hold.desk === desk).length > 1;
  }

  /** What is held or asked for here, without what went down with its session. */
  #living(lock: string): Map<string, Hold> {
    const holds = this.#holds.get(lock);
    if (!holds) return NONE;
    for (const [id, { desk }] of holds) if (desk?.session.ended.aborted) this.#forget(lock, id);
    return holds;
  }

  #keep(lock: string, id: string, hold: Hold): void {
    const holds = this.#holds.get(lock);
    if (holds) holds.set(id, hold);
    else this.#holds.set(lock, new Map([[id, hold]]));
  }

  #forget(lock: string, id: string): void {
    const holds = this.#holds.get(lock);
    const hold = holds?.get(id);
    if (!holds || !hold) return;
    if (hold.desk) hold.desk.load--;
    holds.delete(id);
    if (holds.size === 0) this.#holds.delete(lock);
  }
}

type Texts = ReturnType<typeof texts>;

/** The two ways to take a lock differ by the end of three functions' names. */
const texts = (end: '' | '_shared', named: (script: string) => string) => ({
  attempt: named(advisoryAttempt.replaceAll('{try}', `pg_try_advisory_lock${end}`)),
  wait: named(advisoryWait.replaceAll('{wait}', `pg_advisory_lock${end}`)),
  unlock: `SELECT pg_advisory_unlock${end}($1::bigint)::int AS freed`,
});

const least = (proposal: bigint | undefined): string | null => (proposal === undefined ? null : String(proposal));

const NONE: Map<string, Hold> = new Map();

const granted = (row: Row, { session }: Desk): Grant => ({
  granted: true,
  ticket: BigInt(String(row.ticket)),
  validFor: Number.POSITIVE_INFINITY,
  lost: session.ended,
});
