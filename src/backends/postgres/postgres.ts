import type {
  Attempt,
  Backend,
  Claim,
  Finding,
  Handle,
  Listing,
  Notes,
  Release,
  Renewal,
  Standing,
  Traits,
} from '../../core/backend.ts';
import { PLACE_TTL } from '../../core/backend.ts';
import { type Cancel, type Clock, systemClock } from '../../core/clock.ts';
import { LONGEST } from '../../core/duration.ts';
import { checkNames } from '../../core/options.ts';
import { checkPool, type Dial, dialLike, isTrue, type PgPool, type Row } from './client.ts';
import { findings } from './findings.ts';
import { Mailbox } from './mailbox.ts';
import { type Naming, naming } from './names.ts';
import { notesOf } from './notes.ts';
import { open, scriptOf } from './schema.ts';
import { Server } from './server.ts';
import { evict, inspect, rights } from './sql.generated.ts';

const TRAITS: Traits = {
  seats: 'counted',
  fair: true,
  fencing: 'durable',
  spans: true,
  wakes: 'mailbox',
  lapses: true,
  keptBy: 'lease',
  ttl: { min: 10, max: LONGEST },
};

/** ms between two sweeps, over all processes, and how long a key must be out of use to be swept. */
const SWEEP_EVERY = 60_000;
const IDLE = 3_600_000;

export interface PostgresOptions extends Naming {
  /** `auto` (default): tables that are missing are made on first use. `manual`: only by `setup()`, or by you. */
  readonly setup?: 'auto' | 'manual';
  /**
   * Makes the one connection that hears of admissions, past any transaction pooler. By default one like the pool's, outside
   * the pool; `false`: none, and waiting is polled.
   */
  readonly connect?: Dial | false;
  /** Time and randomness; the machine's by default. */
  readonly clock?: Clock;
}

const KNOWN = new Set(['prefix', 'schema', 'setup', 'connect', 'clock']);

export interface PostgresBackend extends Backend {
  /** Makes what is missing. Safe to run again, and by many processes at once. Needs the right to create. */
  setup(): Promise<void>;
  /**
   * Removes what nobody uses any more: lapsed claims, and keys out of use for `idle` ms. Runs by itself about once a minute
   * in one of the processes.
   * @returns how many keys were removed
   */
  sweep(idle?: number): Promise<number>;
}

/**
 * The line in a table: one statement per step, each a transaction of its own on a connection of the pool, for as long as the
 * statement takes. Who is admitted hears of it by NOTIFY. The pool stays open.
 * @throws LockError `LOCK_INVALID` when it is no pool, or for a bad option
 */
export function postgres(pool: PgPool, options: PostgresOptions = {}): PostgresBackend {
  checkNames(options, KNOWN, 'options of postgres()');
  return new Postgres(checkPool(pool), options);
}

/** What the scripts take for a claim, from this parameter on. What never changes is part of the text: a parameter costs both sides. */
const claimFrom = (first: number): string =>
  [...Array.from({ length: 11 }, (_, n) => `$${first + n}`), PLACE_TTL].join();

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
  readonly #statement: Readonly<
    Record<'attempt' | 'release' | 'exchange' | 'renew' | 'inspect' | 'evict' | 'sweep', string>
  >;
  #opened: Promise<void> | undefined;
  #sweeper: Cancel = () => {};
  #closed = false;

  constructor(pool: PgPool, { setup = 'auto', connect, clock = systemClock, ...names }: PostgresOptions) {
    this.#clock = clock;
    this.#server = new Server(pool, clock, this.name);
    this.#named = naming(names);
    this.#create = setup === 'auto';
    this.notes = notesOf(this.#server, this.#named, this.#create);
    this.#statement = {
      attempt: this.#named(`SELECT {attempt}(${claimFrom(1)})::text AS answer`),
      release: this.#named('SELECT {release}($1, $2)::int AS freed'),
      exchange: this.#named(`SELECT {exchange}($1, $2, ${claimFrom(3)})::text AS answer`),
      renew: this.#named('SELECT {renew}($1) AS n'),
      inspect: this.#named(inspect),
      evict: this.#named(evict),
      sweep: this.#named('SELECT {sweep}($1, $2)::int AS removed'),
    };
    const dial = connect === false ? undefined : (connect ?? dialLike(pool));
    const mailbox = dial && new Mailbox(dial, clock);
    this.#mailbox = mailbox;
    this.watch = mailbox && ((claim, wake) => mailbox.register(claim, wake));
    this.traits = mailbox ? TRAITS : { ...TRAITS, wakes: 'never' };
  }

  async attempt(claim: Claim): Promise<Attempt> {
    const sent = this.#clock.now();
    await this.#open();
    const [row] = await this.#server.send(this.#statement.attempt, this.#values(claim, sent), 'an attempt', claim.key);
    return this.#outcome(fieldsOf(row!), claim);
  }

  async release(handle: Handle, next?: Claim): Promise<Release> {
    const sent = this.#clock.now();
    await this.#open();
    const gone = [Buffer.from(handle.key), handle.id];
    if (!next) {
      const [row] = await this.#server.send(this.#statement.release, gone, 'a release', handle.key);
      return { freed: isTrue(row!.freed) };
    }
    const values = [...gone, ...this.#values(next, sent)];
    const [row] = await this.#server.send(this.#statement.exchange, values, 'a release', handle.key);
    const [freed, ...outcome] = fieldsOf(row!);
    return { freed: freed === 't', next: this.#outcome(outcome, next) };
  }

  async renew(claims: readonly Claim[]): Promise<Renewal[]> {
    await this.#open();
    const asked = claims.map(({ key, id, ttl }) => ({ key: Buffer.from(key).toString('hex'), id, ttl }));
    const rows = await this.#server.send(this.#statement.renew, [JSON.stringify(asked)], 'a renewal');
    const good = new Set(rows.map(({ n }) => Number(n)));
    return claims.map(({ ttl }, index) => (good.has(index + 1) ? { validFor: ttl } : 'gone'));
  }

  async *inspect(prefix: string, { exact = false }: Listing = {}): AsyncIterable<Standing> {
    await this.#open();
    const from = Buffer.from(prefix);
    const to = Buffer.concat([from, Uint8Array.of(exact ? 0 : 0xff)]); // no byte of UTF-8 is 0xff
    const rows = await this.#server.send(this.#statement.inspect, [from, to], 'a listing');
    for (const row of rows) yield standing(row);
  }

  async evict(key: string, ticket: bigint): Promise<boolean> {
    await this.#open();
    const values = [Buffer.from(key), String(ticket)];
    const [row] = await this.#server.send(this.#statement.evict, values, 'a forced release', key);
    return isTrue(row?.freed);
  }

  async check(): Promise<Finding[]> {
    const found = await findings(this.#server);
    const missing = await this.#server.send(this.#named(rights), [], 'a look at the rights');
    if (missing.length > 0) {
      found.push({
        severity: 'danger',
        code: 'missing-rights',
        message: `Missing for this role: ${missing.map((row) => row.missing).join(', ')}.`,
        advice: "Run setup() as a role that may create tables; grant what the PostgreSQL page lists under 'Rights'.",
      });
    }
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

  async sweep(idle: number = IDLE, every = 0): Promise<number> {
    await this.#open();
    const [row] = await this.#server.send(this.#statement.sweep, [every, idle], 'a sweep');
    return Number(row!.removed);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#sweeper();
    this.#server.close();
    await this.#mailbox?.close();
  }

  /** Once per process, before the first statement; again after a failure, for somebody may have mended it. */
  #open(): Promise<void> {
    this.#opened ??= open(this.#server, this.#named, this.#create).then(
      () => this.#sweepLater(),
      (error) => {
        this.#opened = undefined;
        throw error;
      },
    );
    return this.#opened;
  }

  /** Every process asks, the table lets one in. A sweep that fails is made good by the next. */
  #sweepLater(): void {
    if (this.#closed) return;
    const pause = SWEEP_EVERY * (0.5 + this.#clock.random());
    const swept = () => this.#sweepLater();
    this.#sweeper = this.#clock.after(pause, () => this.sweep(IDLE, SWEEP_EVERY).then(swept, swept), true);
  }

  /** In the order of the script's arguments. @param sent when it was asked for: before the tables were looked at */
  #values({ key, id, take, of, ttl, span, label, queue, within, atLeast }: Claim, sent: number): unknown[] {
    const least = atLeast === undefined ? null : String(atLeast);
    const until = this.#server.time.in(within, sent);
    const channel = this.#mailbox?.channel ?? null;
    return [Buffer.from(key), id, take, of, ttl, span, Buffer.from(label), queue, until, least, channel];
  }

  /** @param outcome what the script of an attempt gives, in its order */
  #outcome([state, ticket, ahead, retryAfter, time]: string[], claim: Claim): Attempt {
    this.#server.time.heard(Number(time));
    if (state === 'held') return { granted: true, ticket: BigInt(ticket!), validFor: claim.ttl };
    if (state === 'late') return { granted: false, late: true };
    if (claim.queue) void this.#mailbox?.open();
    return { granted: false, ahead: Number(ahead), retryAfter: Number(retryAfter) };
  }
}

/** A row asked for as one value, as text however the pool takes rows, costs half of what its columns would; none needs quotes. */
const fieldsOf = ({ answer }: Row): string[] => String(answer).slice(1, -1).split(',');

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
