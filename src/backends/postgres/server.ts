import { createHash } from 'node:crypto';
import { type Clock, sleep } from '../../core/index.ts';
import { ServerClock } from '../shared/server-clock.ts';
import { isConflict, isForeign, isReadOnly, isUnprepared, refusal, unavailable } from './errors.ts';
import type { FillNames } from './options.ts';
import { idleOf, type PgPool, type PgQuery, type PoolRow, statementLimitOf } from './pool.ts';

/** The most times that a statement is sent again. In each conflict another statement succeeds, so few times are enough. */
const MAX_RESENDS = 10;

/** The servers that use each pool. They share one listener for errors: Node warns of a leak if a pool has more than ten listeners. */
const users = new WeakMap<PgPool, Set<Server>>();

/** The pools for which we have warned of an open transaction: one warning is enough. */
const warned = new WeakSet<PgPool>();

/** Sends prepared statements over the pool, and sends them again after a conflict. A definite refusal becomes a `LockError`. */
export class Server {
  readonly backend: string;
  readonly clock: Clock;
  readonly serverClock: ServerClock;
  readonly named: FillNames;
  readonly #pool: PgPool;
  readonly #limit: number;
  readonly #prepared = new Map<string, Pick<PgQuery, 'name' | 'text'>>();
  #prepare = true;

  constructor(pool: PgPool, named: FillNames, clock: Clock, backend: string) {
    this.backend = backend;
    this.clock = clock;
    this.serverClock = new ServerClock(clock);
    this.named = named;
    this.#pool = pool;
    this.#limit = statementLimitOf(pool);
    const others = users.get(pool) ?? new Set();
    if (others.size === 0) pool.on('error', ignore);
    users.set(pool, others.add(this));
  }

  /** Sends one statement, in a transaction of its own. @param script the statement, before the names of the tables are filled in */
  async send(script: string, values: unknown[], asked: string, key?: string): Promise<PoolRow[]> {
    const { name, text } = this.#prepared.get(script) ?? this.#remember(script);
    for (let resends = 0; ; ) {
      const idle = idleOf(this.#pool);
      const query = { name: this.#prepare ? name : undefined, text, values, query_timeout: this.#limit };
      try {
        return (await this.#pool.query(query)).rows;
      } catch (error) {
        if (isUnprepared(error) && query.name) this.#prepare = false;
        else if (isConflict(error) && resends++ < MAX_RESENDS)
          await sleep(this.clock, this.clock.random() * Math.min(2 ** resends, 50)); // a random time, so that the two statements do not meet again
        else if (isReadOnly(error) && idle > 0 && resends++ < MAX_RESENDS)
          continue; // the pool has dropped this connection; another one may lead to the new primary
        else if (isForeign(error)) this.#foreign(error, resends++, asked, key);
        else throw refusal(error, this.backend, asked, key);
      }
    }
  }

  /** Sends several statements without values, in one transaction. Each statement sees what others committed before that statement began. */
  async script(text: string, asked: string): Promise<void> {
    await this.send(
      `DO $script$
BEGIN
COMMIT;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
EXECUTE $text$${text}$text$;
COMMIT;
END
$script$`,
      [],
      asked,
    );
  }

  close(): void {
    const others = users.get(this.#pool)!;
    if (others.delete(this) && others.size === 0) this.#pool.off?.('error', ignore);
  }

  /** The name is a hash of the text, so two sets of tables on one pool never share a prepared statement. */
  #remember(script: string): Pick<PgQuery, 'name' | 'text'> {
    const text = this.named(script);
    const name = `holdfast_${createHash('sha256').update(text).digest('hex').slice(0, 16)}`;
    this.#prepared.set(script, { name, text });
    return { name, text };
  }

  /**
   * Warns once, and throws after too many tries. The pool drops a connection on which a statement failed, so the server ends the open
   * transaction, and the next try gets another connection.
   */
  #foreign(cause: unknown, resends: number, asked: string, key: string | undefined): void {
    const found = 'a connection of the pool was inside a transaction that somebody had left open';
    const advice = 'end every transaction, also after an error, before its client goes back to the pool';
    if (resends >= MAX_RESENDS)
      throw unavailable(this.backend, `${asked} was refused ${resends} times: ${found}; ${advice}`, key, cause);
    if (warned.has(this.#pool)) return;
    warned.add(this.#pool);
    process.emitWarning(`${this.backend}: ${found}; it was given up, and another taken. ${advice}`, {
      code: 'HOLDFAST_OPEN_TRANSACTION',
    });
  }
}

/** Listens for errors of idle connections, which the pool drops by itself: without a listener, an error would end the process. */
function ignore(): void {}
