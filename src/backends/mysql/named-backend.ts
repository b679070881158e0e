import type { Attempt, Backend, Claim, Finding, Grant, Handle, Release, Renewal, Traits } from '../../core/backend.ts';
import { type Cancel, type Clock, systemClock } from '../../core/clock.ts';
import { LONGEST } from '../../core/duration.ts';
import { LockError } from '../../core/errors.ts';
import { checkPrefix } from '../../core/key.ts';
import { findings, settingsOf } from './check.ts';
import { checkNamed, type MysqlNamedOptions } from './options.ts';
import { busyPool, type MysqlPool } from './pool.ts';
import { Session } from './session.ts';
import { Table } from './table.ts';

const TRAITS: Traits = {
  seats: 'exclusive',
  fair: false,
  fencing: 'durable',
  spans: false,
  wakes: 'watch',
  lapses: false,
  keptBy: 'session',
  ttl: { min: 1, max: LONGEST },
};

/** How long the server waits for a lock at a time, s. */
const WAIT = 5;
/** Longest pause between two looks at a held lock, ms: shorter where the server ends idle sessions sooner. */
const KEEP_ALIVE = 10_000;
/** The server's clock has nothing to say here. */
const FOREVER = `${Number.MAX_SAFE_INTEGER}`;

type Wake = (grant?: Grant) => void;

/**
 * The server's own named locks (GET_LOCK): no lease, freed at once when the connection ends. Each hold and each waiter has
 * a connection of the pool to itself: give it a pool of its own.
 * @throws LockError `LOCK_INVALID` when it is no pool, or for a bad option
 */
export function mysqlNamed(pool: MysqlPool, options: MysqlNamedOptions = {}): Backend {
  checkNamed(options);
  return new Named(pool, options);
}

class Named implements Backend {
  readonly name = 'mysql-named';
  readonly traits = TRAITS;
  readonly #prefix: string;
  readonly #database: string;
  readonly #table: Table;
  readonly #pool: MysqlPool;
  readonly #clock: Clock;
  readonly #sessions = new Map<string, Session>();
  readonly #watchers = new Map<string, Wake>();
  #server: Promise<number> | undefined;
  #cancel: Cancel | undefined;
  #closed = false;

  constructor(pool: MysqlPool, options: MysqlNamedOptions) {
    const { prefix = 'holdfast', table = 'holdfast_lines', clock = systemClock } = options;
    this.#prefix = `${checkPrefix(prefix)}/`;
    this.#database = table.includes('.') ? table.split('.')[0]! : '';
    this.#clock = clock;
    this.#pool = pool;
    this.#table = new Table(pool, table, clock, this.name);
  }

  async attempt(claim: Claim): Promise<Attempt> {
    const known = this.#sessions.get(claim.id);
    if (known && !known.ended) return known.grant ?? { granted: false };
    const session = await this.#open(claim);
    try {
      const answer = await session.take(0, this.#table.limit(claim.within), claim.atLeast ?? 0n);
      if (typeof answer === 'object') return answer;
      session.leave();
      this.#forget(claim.id, session);
      if (answer === 'late') return { granted: false, late: true };
      if (this.#watchers.has(claim.id)) void this.#begin(claim).catch(() => {}); // its wait broke off
      return { granted: false };
    } catch (error) {
      this.#forget(claim.id, session);
      throw this.#table.mapped(error);
    }
  }

  renew(claims: readonly Claim[]): Promise<Renewal[]> {
    return Promise.all(
      claims.map(async ({ id }) => {
        const session = this.#sessions.get(id);
        const held = session?.grant && (await session.check().catch(() => false));
        return held ? { validFor: Number.POSITIVE_INFINITY } : 'gone';
      }),
    );
  }

  async release({ id }: Handle, next?: Claim): Promise<Release> {
    const session = this.#sessions.get(id);
    if (session) this.#forget(id, session);
    const freed = session !== undefined && (await session.release().catch(() => false));
    return { freed, next: next && (await this.attempt(next)) };
  }

  /** The wait is the server's: whoever it lets in has the lock when it is told. */
  async watch(claim: Claim, wake: Wake): Promise<AsyncDisposable> {
    const { id } = claim;
    if (!this.#sessions.has(id)) await this.#begin(claim);
    this.#watchers.set(id, wake);
    return {
      [Symbol.asyncDispose]: async () => {
        if (this.#watchers.get(id) !== wake) return;
        this.#watchers.delete(id);
        const session = this.#sessions.get(id);
        if (!session || session.grant) return;
        session.end();
        this.#forget(id, session);
      },
    };
  }

  obstacle(): string | undefined {
    return busyPool(this.#pool);
  }

  check(): Promise<Finding[]> {
    return findings(this.#table);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#cancel?.();
    const sessions = [...this.#sessions.values()];
    this.#sessions.clear();
    await Promise.all(sessions.map((session) => session.release().catch(() => false)));
    this.#table.client.close();
  }

  /** On a session of its own. */
  async #begin(claim: Claim): Promise<void> {
    const session = await this.#open(claim);
    void this.#wait(claim, session);
  }

  /** Until it is let in or breaks off; then the next attempt that is refused begins it anew. */
  async #wait({ id, atLeast = 0n }: Claim, session: Session): Promise<void> {
    let answer: Grant | 'late' | undefined;
    try {
      while (typeof answer !== 'object') answer = await session.take(WAIT, FOREVER, atLeast);
    } catch {
      this.#forget(id, session);
    }
    this.#watchers.get(id)?.(session.grant);
  }

  async #open({ id, key }: Claim): Promise<Session> {
    const session = new Session(this.#table, { database: this.#database, name: Buffer.from(this.#prefix + key) });
    this.#sessions.set(id, session);
    try {
      await this.#ready();
      await session.open();
      this.#keepAlive();
      return session;
    } catch (error) {
      this.#forget(id, session);
      throw this.#table.mapped(error);
    }
  }

  #forget(id: string, session: Session): void {
    if (this.#sessions.get(id) === session) this.#sessions.delete(id);
  }

  async #ready(): Promise<number> {
    await this.#table.ready();
    this.#server ??= this.#ask().catch((error) => {
      this.#server = undefined;
      throw error;
    });
    return this.#server;
  }

  /** ms after which the server ends an idle session. */
  async #ask(): Promise<number> {
    const settings = await settingsOf(this.#table);
    if (settings('wsrep_on') === 'ON') {
      const message =
        'mysql-named cannot lock here: named locks are of one node, and this is a Galera cluster. Use mysql()';
      throw new LockError('LOCK_UNSUPPORTED', message, { backend: this.name });
    }
    return Number(settings('wait_timeout')) * 1_000;
  }

  /** Looks at every held lock now and then: a connection that ended without a word is noticed, and none is idle. */
  #keepAlive(): void {
    if (this.#cancel) return;
    // Known since the first session; to look at the table anew would take a connection, and holds may have them all.
    void this.#server?.then(
      (limit) => {
        if (this.#cancel || this.#closed) return;
        this.#cancel = this.#clock.after(Math.min(KEEP_ALIVE, limit / 3), () => void this.#look(), true);
      },
      () => {},
    );
  }

  async #look(): Promise<void> {
    await Promise.all(
      [...this.#sessions].map(async ([id, session]) => {
        if (session.grant) await session.check().catch(() => false);
        if (session.ended) this.#forget(id, session);
      }),
    );
    this.#cancel = undefined;
    if (this.#sessions.size > 0) this.#keepAlive();
  }
}
