import { createHash } from 'node:crypto';
import type { Clock } from '../../core/clock.ts';
import { ServerClock } from '../../core/server-clock.ts';
import { type PgPool, type PgQuery, patienceOf, type Row } from './client.ts';
import { isConflict, isForeign, isUnprepared, refusal, unavailable } from './errors.ts';

/** Times a statement is sent again after a conflict: the loser of one has seen another succeed, so few suffice. */
const RESENDS = 10;

/** Who uses a pool: one listener serves all, since Node takes more than ten for a leak. */
const users = new WeakMap<PgPool, Set<Server>>();

/** Pools of which it was told that connections come back inside a transaction: once is enough. */
const warned = new WeakSet<PgPool>();

/** Statements on the pool: prepared, sent again after a conflict, refusals told from trouble. */
export class Server {
  readonly serverClock: ServerClock;
  readonly #pool: PgPool;
  readonly #clock: Clock;
  readonly #backend: string;
  readonly #patience: number;
  readonly #names = new Map<string, string>();
  #prepare = true;

  constructor(pool: PgPool, clock: Clock, backend: string) {
    this.#pool = pool;
    this.#clock = clock;
    this.#backend = backend;
    this.#patience = patienceOf(pool);
    this.serverClock = new ServerClock(clock);
    const others = users.get(pool) ?? new Set();
    if (others.size === 0) pool.on('error', ignore);
    users.set(pool, others.add(this));
  }

  /** One statement, in a transaction of its own. */
  async send(text: string, values: unknown[], asked: string, key?: string): Promise<Row[]> {
    for (let resends = 0; ; ) {
      const query = this.#query(text, values);
      try {
        return (await this.#pool.query(query)).rows;
      } catch (error) {
        if (isUnprepared(error) && query.name) this.#prepare = false;
        else if (isConflict(error) && resends++ < RESENDS) await this.#pause(resends);
        else if (isForeign(error)) this.#foreign(error, resends++, asked, key);
        else throw refusal(error, this.#backend, asked, key);
      }
    }
  }

  /** Several statements without values, in one transaction, each of which sees what others have done before it. */
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

  /** The pool drops a connection on which a statement failed, and the server ends its transaction then: another will do. */
  #foreign(cause: unknown, resends: number, asked: string, key: string | undefined): void {
    const found = 'a connection of the pool was inside a transaction that somebody had left open';
    const advice = 'end every transaction, also after an error, before its client goes back to the pool';
    if (resends >= RESENDS) {
      throw unavailable(this.#backend, `${asked} was refused ${resends} times: ${found}; ${advice}`, key, cause);
    }
    if (warned.has(this.#pool)) return;
    warned.add(this.#pool);
    process.emitWarning(`${this.#backend}: ${found}; it was given up, and another taken. ${advice}`, {
      code: 'HOLDFAST_OPEN_TRANSACTION',
    });
  }

  close(): void {
    const others = users.get(this.#pool)!;
    if (others.delete(this) && others.size === 0) this.#pool.off?.('error', ignore);
  }

  #query(text: string, values: unknown[]): PgQuery {
    const query_timeout = this.#patience;
    return this.#prepare ? { name: this.#name(text), text, values, query_timeout } : { text, values, query_timeout };
  }

  /** By content, so that two sets of tables on one pool never share a prepared statement. */
  #name(text: string): string {
    let name = this.#names.get(text);
    if (!name) {
      name = `holdfast_${createHash('sha256').update(text).digest('hex').slice(0, 16)}`;
      this.#names.set(text, name);
    }
    return name;
  }

  /** Random, so that two who met once do not meet again. */
  #pause(resends: number): Promise<void> {
    return new Promise((done) => this.#clock.after(this.#clock.random() * Math.min(2 ** resends, 50), done));
  }
}

/** The pool drops a broken idle connection by itself; without a listener the event would end the process. */
function ignore(): void {}
