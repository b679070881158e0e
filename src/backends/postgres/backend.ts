import {
  type Attempt,
  type Backend,
  type Claim,
  type Finding,
  type Handle,
  type Listing,
  LONGEST_PLACE_TTL,
  type Notes,
  type Release,
  type Renewal,
  type Standing,
  type Traits,
} from '../../core/backend.ts';
import { type Clock, systemClock } from '../../core/clock.ts';
import { LONGEST } from '../../core/duration.ts';
import { checkNames } from '../../core/options.ts';
import { findings } from './check.ts';
import { busyPool, checkPool, type Dial, dialLike, isTrue, type PgPool, type Row } from './client.ts';
import { type Naming, naming } from './names.ts';
import { notesOf } from './notes.ts';
import { ownDial, Renewals } from './renewals.ts';
import { aboutFunctions, revisionFinding } from './revision.ts';
import { open, scriptOf } from './schema.ts';
import { Server } from './server.ts';
import { inspect, rights } from './sql.generated.ts';
import { fieldsOf, Statements, valuesOf } from './statements.ts';
import { IDLE, Sweeper } from './sweeper.ts';
import { Mailbox } from './wake-ups.ts';

const TRAITS: Traits = {
  seats: 'counted',
  fair: true,
  fencing: 'durable',
  spans: true,
  wakes: 'mailbox',
  lapses: true,
  keptBy: 'lease',
  placeTtl: LONGEST_PLACE_TTL,
  ttl: { min: 10, max: LONGEST },
};

/** Options of `postgres`. */
export interface PostgresOptions extends Naming {
  /** `auto` (default): tables that are missing are made on first use. `manual`: only by `setup()`, or by you. */
  readonly setup?: 'auto' | 'manual';
  /**
   * Makes the one connection that hears of admissions, past any transaction pooler. By default one like the pool's, outside
   * the pool; `false`: none, and waiting is polled.
   */
  readonly connect?: Dial | false;
  /** Says that a pooler between `connect` and the server pools whole sessions. Without it, nobody listens through any that is noticed. */
  readonly pooler?: 'session';
  /**
   * Renewals go over a connection of our own, outside the pool, and so never wait behind statements of the application. Default
   * false. It is opened with the first renewal; while it is away they go over the pool.
   */
  readonly ownConnection?: boolean;
  /** Time and randomness; the machine's by default. */
  readonly clock?: Clock;
}

const KNOWN = new Set(['prefix', 'schema', 'setup', 'connect', 'pooler', 'ownConnection', 'clock']);

/** Locks in tables, with what makes the tables and empties them. */
export interface PostgresBackend extends Backend {
  /**
   * Makes what is missing. Safe to run again, and by many processes at once. Needs the right to create.
   * @example await postgres(pool, { setup: 'manual' }).setup(); // in a migration
   */
  setup(): Promise<void>;
  /**
   * Removes what nobody uses any more: lapsed claims, and keys out of use for `idle` ms. Runs by itself about once a minute
   * in one of the processes.
   * @returns how many keys were removed
   * @example const gone = await postgres(pool).sweep();
   */
  sweep(idle?: number): Promise<number>;
}

/**
 * The line in a table: one statement per step, each a transaction of its own on a connection of the pool, for as long as the
 * statement takes. Who is admitted hears of it by NOTIFY. The pool stays open.
 * @throws LockError `LOCK_INVALID` when it is no pool, or for a bad option
 * @example
 * import pg from 'pg';
 * const locks = createLocks(postgres(new pg.Pool()));
 */
export function postgres(pool: PgPool, options: PostgresOptions = {}): PostgresBackend {
  checkNames(options, KNOWN, 'options of postgres()');
  return new Postgres(checkPool(pool), options);
}

class Postgres implements PostgresBackend {
  readonly name = 'postgres';
  readonly traits: Traits;
  readonly watch: Backend['watch'];
  readonly notes: Notes;
  readonly #clock: Clock;
  readonly #server: Server;
  readonly #mailbox: Mailbox | undefined;
  readonly #named: (script: string) => string;
  readonly #create: boolean;
  readonly #statements: Statements;
  readonly #sweeper: Sweeper;
  readonly #renewals: Renewals;
  readonly #pool: PgPool;
  #opened: Promise<void> | undefined;

  constructor(pool: PgPool, options: PostgresOptions) {
    const { setup = 'auto', connect, clock = systemClock, pooler, ownConnection = false, ...names } = options;
    this.#clock = clock;
    this.#server = new Server(pool, clock, this.name);
    this.#named = naming(names);
    this.#create = setup === 'auto';
    this.notes = notesOf(this.#server, this.#named, this.#create);
    this.#statements = new Statements(this.#server, this.#named);
    this.#sweeper = new Sweeper(this.#statements, clock);
    const dial = connect === false ? undefined : (connect ?? dialLike(pool));
    this.#pool = pool;
    this.#renewals = new Renewals(this.#server, this.#named, clock, ownConnection ? ownDial(pool, connect) : undefined);
    const mailbox = dial && new Mailbox(dial, clock, pooler === 'session');
    this.#mailbox = mailbox;
    this.watch = mailbox && ((claim, wake) => mailbox.register(claim, wake));
    this.traits = mailbox ? TRAITS : { ...TRAITS, wakes: 'never' };
  }

  async attempt(claim: Claim): Promise<Attempt> {
    const sent = this.#clock.now();
    await this.#open();
    const answer = await this.#statements.run('attempt', this.#values(claim, sent), 'an attempt', claim.key);
    return this.#outcome(fieldsOf(answer), claim);
  }

  async release(handle: Handle, next?: Claim): Promise<Release> {
    const sent = this.#clock.now();
    await this.#open();
    const gone = [Buffer.from(handle.key), handle.id];
    if (!next) return { freed: isTrue(await this.#statements.run('release', gone, 'a release', handle.key)) };
    const values = [...gone, ...this.#values(next, sent)];
    const answer = await this.#statements.run('exchange', values, 'a release', handle.key);
    const [freed, ...outcome] = fieldsOf(answer);
    return { freed: freed === 't', next: this.#outcome(outcome, next) };
  }

  async renew(claims: readonly Claim[]): Promise<Renewal[]> {
    await this.#open();
    return this.#renewals.renew(claims);
  }

  obstacle(): string | undefined {
    return busyPool(this.#pool);
  }

  async *inspect(prefix: string, { exact = false }: Listing = {}): AsyncIterable<Standing> {
    await this.#open();
    const from = Buffer.from(prefix);
    const to = Buffer.concat([from, Uint8Array.of(exact ? 0 : 0xff)]); // no byte of UTF-8 is 0xff
    const rows = await this.#server.send(this.#named(inspect), [from, to], 'a listing');
    for (const row of rows) yield standing(row);
  }

  async evict(key: string, ticket: bigint): Promise<boolean> {
    await this.#open();
    const values = [Buffer.from(key), String(ticket)];
    return isTrue(await this.#statements.run('evict', values, 'a forced release', key));
  }

  async check(): Promise<Finding[]> {
    const found = await findings(this.#server);
    const missing = await this.#server.send(this.#named(aboutFunctions(rights)), [], 'a look at the rights');
    if (missing.length > 0) {
      found.push({
        severity: 'danger',
        code: 'missing-rights',
        message: `Missing for this role: ${missing.map((row) => row.missing).join(', ')}.`,
        advice: "Run setup() as a role that may create tables; grant what the PostgreSQL page lists under 'Rights'.",
      });
    }
    const differing = await revisionFinding(this.#server, this.#named);
    if (differing) found.push(differing);
    if (
      !(await this.#mailbox?.test((channel) => this.#server.send('SELECT pg_notify($1, $2)', [channel, ''], 'a test')))
    ) {
      found.push({
        severity: 'warning',
        code: 'not-notified',
        message: 'Nothing is heard by LISTEN: waiters find out by polling, about every 2 s.',
        advice: 'Give `connect` a connection past the transaction pooler, to the same database as the pool.',
      });
    }
    return found;
  }

  setup(): Promise<void> {
    return this.#server.script(scriptOf(this.#named), 'setting up the tables');
  }

  async sweep(idle: number = IDLE): Promise<number> {
    await this.#open();
    return this.#sweeper.sweep(idle, 0);
  }

  async close(): Promise<void> {
    this.#sweeper.close();
    this.#server.close();
    await Promise.all([this.#mailbox?.close(), this.#renewals.close()]);
  }

  /** Once per process, before the first statement; again after a failure, for somebody may have mended it. */
  #open(): Promise<void> {
    this.#opened ??= open(this.#server, this.#named, this.#create).then(
      () => this.#sweeper.later(),
      (error) => {
        this.#opened = undefined;
        throw error;
      },
    );
    return this.#opened;
  }

  /** @param sent when it was asked for: before the tables were looked at */
  #values(claim: Claim, sent: number): unknown[] {
    return valuesOf(claim, this.#server.serverClock.in(claim.within, sent) ?? null, this.#mailbox?.channel ?? null);
  }

  /** @param outcome what the script of an attempt gives, in its order */
  #outcome([state, ticket, ahead, retryAfter, time]: string[], claim: Claim): Attempt {
    this.#server.serverClock.learn(Number(time));
    if (state === 'held') return { granted: true, ticket: BigInt(ticket!), validFor: claim.ttl };
    if (state === 'late') return { granted: false, late: true };
    if (claim.queue) void this.#mailbox?.open();
    return { granted: false, ahead: Number(ahead), retryAfter: Number(retryAfter) };
  }
}

/** Of bytes in hex. */
const textOf = (hex: unknown): string => Buffer.from(String(hex), 'hex').toString();

const standing = (row: Row): Standing => ({
  key: textOf(row.key),
  held: isTrue(row.held),
  position: Number(row.position),
  ticket: BigInt(String(row.ticket)),
  take: Number(row.take),
  of: Number(row.room),
  label: textOf(row.label),
  since: Number(row.since),
  remaining: Number(row.remaining),
});
