import {
  type Attempt,
  type Backend,
  type Claim,
  type Finding,
  type Handle,
  type Hints,
  type Listing,
  LONGEST,
  MAX_PLACE_TTL_MS,
  type NewValue,
  onceFor,
  type QueueEntry,
  type Release,
  type Renewal,
  systemClock,
  type Traits,
  type ValueCondition,
  type Values,
} from '../../core/index.ts';
import { LONGEST_WORDS } from '../shared/record.ts';
import { tableFindings } from './check.ts';
import { type PostgresClient, poolOf } from './clients.ts';
import { standings } from './inspect.ts';
import { notesOf } from './notes.ts';
import { checkTable, naming, type PostgresOptions } from './options.ts';
import { busyPool, dialLike, dialOf, isEnded, isTrue, type PgPool } from './pool.ts';
import { Renewals } from './renewals.ts';
import { open, setup } from './schema.ts';
import { Server } from './server.ts';
import { fieldsOf, SERVER_TIME, take, valuesOf } from './statements.ts';
import { IDLE, Sweeper } from './sweeper.ts';
import { Mailbox } from './wake-ups.ts';
import { attemptOf, inquiryOf, leaveOf, wordsOf } from './words.ts';

const TRAITS: Traits = {
  units: 'counted',
  fair: true,
  fencing: 'durable',
  tokenBlocks: true,
  wakes: 'mailbox',
  expires: true,
  lifetime: 'lease',
  renewedFrom: 'anywhere',
  placeTtl: MAX_PLACE_TTL_MS,
  values: { maxBytes: LONGEST_WORDS },
  ttl: { min: 10, max: LONGEST },
};

/** Locks in tables, with what makes the tables and empties them. */
export interface PostgresBackend extends Backend {
  /**
   * Makes what is missing. Safe to run again, and by many processes at once. Needs the right to create.
   * @example await postgres(pool, { setup: 'manual' }).setup(); // in a migration
   */
  setup(): Promise<void>;
  /**
   * Removes expired claims, and keys that nobody has used for `idle` ms. About once a minute, one of the processes does it by itself.
   * @returns how many keys were removed
   * @example const gone = await postgres(pool).sweep();
   */
  sweep(idle?: number): Promise<number>;
}

/**
 * The line in a table. Each step is one statement and one transaction, on a connection of the pool that it needs no longer. NOTIFY
 * tells a claim that it was admitted. The pool stays open.
 * @param client a pool of `pg`, or what you have of `postgres` (postgres.js), PGlite or Bun.SQL
 * @throws LockError `LOCK_INVALID` when it is none of them, or for a bad option
 * @example
 * import pg from 'pg';
 * const locks = createLocks(postgres(new pg.Pool()));
 */
export function postgres(client: PostgresClient, options: PostgresOptions = {}): PostgresBackend {
  checkTable(options);
  return new Postgres(client, options);
}

class Postgres implements PostgresBackend {
  readonly name = 'postgres';
  readonly traits: Traits;
  readonly watch: Backend['watch'];
  readonly hints: Hints;
  readonly values: Values;
  readonly #pool: PgPool;
  readonly #server: Server;
  readonly #mailbox: Mailbox | undefined;
  readonly #sweeper: Sweeper;
  readonly #renewals: Renewals;
  /** Before the first statement of this process. */
  readonly #open: () => Promise<void>;

  constructor(client: PostgresClient, options: PostgresOptions) {
    const { setup = 'auto', connect, clock = systemClock, pooler, ownConnection = false } = options;
    const { pool, listen } = poolOf(client, clock);
    const create = setup === 'auto';
    const server = new Server(pool, naming(options), clock, this.name);
    const dial = connect === false ? undefined : (connect ?? dialLike(pool) ?? (listen && { listen }));
    const mailbox = dial && new Mailbox(dial, clock, pooler === 'session');
    this.#pool = pool;
    this.#server = server;
    this.hints = notesOf(server, () => this.#open());
    this.values = wordsOf(server, () => this.#open());
    this.#sweeper = new Sweeper(server);
    this.#renewals = new Renewals(server, ownConnection ? dialOf(pool, connect) : undefined);
    this.#mailbox = mailbox;
    this.watch = mailbox && ((claim, wake, age) => mailbox.watch(claim, wake, age));
    this.traits = mailbox ? TRAITS : { ...TRAITS, wakes: 'never' };
    this.#open = onceFor(async () => {
      await open(server, create);
      this.#sweeper.begin();
    });
  }

  async attempt(claim: Claim): Promise<Attempt> {
    const sent = this.#server.clock.now();
    await this.#open();
    if (claim.accepts) return (await this.#ask(claim, claim.accepts, sent)).attempt;
    const answer = await take(this.#server, 'attempt', this.#values(claim, sent), claim.key);
    return this.#outcome(fieldsOf(answer), claim);
  }

  async release(handle: Handle, next?: Claim, leave?: NewValue): Promise<Release> {
    const sent = this.#server.clock.now();
    await this.#open();
    if (leave) return this.#leave(handle, leave, next);
    const gone = [Buffer.from(handle.key), handle.id];
    if (!next) return { freed: isTrue(await take(this.#server, 'release', gone, handle.key)) };
    if (next.accepts) {
      const { freed, attempt } = await this.#ask(next, next.accepts, sent, gone);
      return { freed, next: attempt };
    }
    const answer = await take(this.#server, 'exchange', [...gone, ...this.#values(next, sent)], handle.key);
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

  ended(): boolean {
    return isEnded(this.#pool);
  }

  async *inspect(prefix: string, listing: Listing = {}): AsyncIterable<QueueEntry> {
    await this.#open();
    yield* standings(this.#server, prefix, listing);
  }

  async evict(key: string, token: bigint): Promise<boolean> {
    await this.#open();
    return isTrue(await take(this.#server, 'evict', [Buffer.from(key), String(token)], key));
  }

  check(): Promise<Finding[]> {
    return tableFindings(this.#server, this.#mailbox);
  }

  setup(): Promise<void> {
    return setup(this.#server);
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

  /** @param sent when the attempt was asked for: before the tables were looked at */
  #values(claim: Claim, sent: number): unknown[] {
    return valuesOf(claim, this.#server.serverClock.in(claim.within, sent) ?? null, this.#mailbox?.channel ?? null);
  }

  /** An attempt of a claim that words may answer. @param gone key and id of the claim that is given up in the same step */
  async #ask(
    claim: Claim,
    answered: ValueCondition,
    sent: number,
    gone: readonly unknown[] = [null, null],
  ): Promise<{ freed: boolean; attempt: Attempt }> {
    const values = [...gone, ...this.#values(claim, sent), ...inquiryOf(answered)];
    const [freed, ...outcome] = fieldsOf(await take(this.#server, 'ask', values, claim.key));
    return { freed: freed === 't', attempt: this.#outcome(outcome, claim) };
  }

  async #leave(handle: Handle, leave: NewValue, next?: Claim): Promise<Release> {
    const answer = await take(this.#server, 'leave', leaveOf(handle, leave), handle.key);
    const [freed, stored] = fieldsOf(answer).map((field) => field === 't');
    return next ? { freed: freed!, stored, next: await this.attempt(next) } : { freed: freed!, stored };
  }

  /** @param outcome what the script of an attempt gives, in its order */
  #outcome(outcome: string[], claim: Claim): Attempt {
    this.#server.serverClock.learn(Number(outcome[SERVER_TIME]));
    const attempt = attemptOf(outcome, claim);
    if (claim.queue && !attempt.granted && attempt.ahead !== undefined) void this.#mailbox?.open();
    return attempt;
  }
}
