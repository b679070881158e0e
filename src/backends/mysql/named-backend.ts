import {
  type Attempt,
  type Backend,
  type Claim,
  checkPrefix,
  type Finding,
  type Grant,
  type Handle,
  LONGEST,
  type Release,
  type Renewal,
  systemClock,
  type Traits,
  type Wake,
} from '../../core/index.ts';
import { WaitingClaims } from '../shared/waiting-claims.ts';
import { findings } from './check.ts';
import { translateError } from './errors.ts';
import type { LockName, NamedSession } from './named-session.ts';
import { NamedSessions } from './named-sessions.ts';
import { checkNamed, type MysqlNamedOptions } from './options.ts';
import { busyPool, type MysqlPool } from './pool.ts';
import { Table } from './table.ts';

const TRAITS: Traits = {
  units: 'exclusive',
  fair: false,
  fencing: 'durable',
  tokenBlocks: false,
  wakes: 'watch',
  expires: false,
  lifetime: 'session',
  ttl: { min: 1, max: LONGEST },
};

/** How long one wait on the server takes, s. */
const WAIT = 5;
/** A wait has no time limit by the server's clock. */
const FOREVER = `${Number.MAX_SAFE_INTEGER}`;

/**
 * The server's own named locks (GET_LOCK), without a lease: a lock is free at once when its connection ends. Each hold and each waiter
 * has a connection of the pool to itself, so give it a pool of its own.
 * @throws LockError `LOCK_INVALID` when it is no pool, or for a bad option
 * @example
 * import { createPool } from 'mysql2/promise';
 * const locks = createLocks(mysqlNamed(createPool('mysql://app@127.0.0.1/shop')));
 */
export function mysqlNamed(pool: MysqlPool, options: MysqlNamedOptions = {}): Backend {
  checkNamed(options);
  return new NamedLocks(pool, options);
}

class NamedLocks implements Backend {
  readonly name = 'mysql-named';
  readonly traits = TRAITS;
  readonly #table: Table;
  readonly #pool: MysqlPool;
  readonly #sessions: NamedSessions;
  readonly #waiting = new WaitingClaims();

  constructor(pool: MysqlPool, options: MysqlNamedOptions) {
    const { prefix = 'holdfast', table = 'holdfast_lines', clock = systemClock } = options;
    const database = table.includes('.') ? table.split('.')[0]! : '';
    this.#pool = pool;
    this.#table = new Table(pool, table, clock, this.name);
    checkPrefix(prefix);
    const lockNameOf = (key: string): LockName => ({ database, name: Buffer.from(`${prefix}/${key}`) });
    this.#sessions = new NamedSessions(this.#table, clock, lockNameOf);
  }

  async attempt(claim: Claim): Promise<Attempt> {
    const known = this.#sessions.get(claim.id);
    if (known && !known.ended) return known.grant ?? { granted: false };
    const session = await this.#sessions.open(claim);
    try {
      const answer = await session.take(0, this.#table.limit(claim.within), claim.minToken ?? 0n);
      if (typeof answer === 'object') return answer;
      session.leave();
      this.#sessions.forget(claim.id, session);
      if (answer === 'late') return { granted: false, late: true };
      if (this.#waiting.has(claim.id)) void this.#begin(claim).catch(() => {}); // its wait broke off
      return { granted: false };
    } catch (error) {
      this.#sessions.forget(claim.id, session);
      throw translateError(error, this.#table.backend);
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
    if (session) this.#sessions.forget(id, session);
    const freed = session !== undefined && (await session.release().catch(() => false));
    return { freed, next: next && (await this.attempt(next)) };
  }

  /** The server does the waiting. A claim that is told already has the lock. */
  async watch(claim: Claim, wake: Wake): Promise<AsyncDisposable> {
    const { id } = claim;
    if (!this.#sessions.get(id)) await this.#begin(claim);
    return this.#waiting.watch(claim, wake, () => {
      const session = this.#sessions.get(id);
      if (!session || session.grant) return;
      session.end();
      this.#sessions.forget(id, session);
    });
  }

  obstacle(): string | undefined {
    return busyPool(this.#pool);
  }

  check(): Promise<Finding[]> {
    return findings(this.#table);
  }

  async close(): Promise<void> {
    await this.#sessions.close();
    this.#table.server.close();
  }

  /** Waits on a session of its own. */
  async #begin(claim: Claim): Promise<void> {
    void this.#wait(claim, await this.#sessions.open(claim));
  }

  /** Waits until it has the lock, or the wait breaks off. Then the next attempt that is refused begins another wait. */
  async #wait({ id, minToken = 0n }: Claim, session: NamedSession): Promise<void> {
    let answer: Grant | 'late' | undefined;
    try {
      while (typeof answer !== 'object') answer = await session.take(WAIT, FOREVER, minToken);
    } catch {
      this.#sessions.forget(id, session);
    }
    this.#waiting.get(id)?.wake(session.grant);
  }
}
