import { type Clock, invalid, onceFor, shown } from '../../core/index.ts';
import { ServerClock } from '../shared/server-clock.ts';
import { isNoTable, LeftOpen, refusal, translateError } from './errors.ts';
import type { Header, MysqlPool, PoolRow } from './pool.ts';
import { Server } from './server.ts';
import { found, greet, setup } from './sql.generated.ts';
import { type Bind, type Bound, type List, type NamedValues, statement } from './statements.ts';
import { US_PER_MS } from './stored-queue.ts';

/** The longest time for which the last reading of the server's clock is used, ms. */
const MAX_CLOCK_AGE_MS = 300_000;

/** The table, its statements, and the server's time as the answers show it. */
export class Table {
  readonly server: Server;
  readonly backend: string;
  readonly #serverClock: ServerClock;
  /** The name, quoted. */
  readonly name: string;
  /** Statements by their text, then by their list: to join both and hash the result at each use would take long. */
  readonly #statements = new Map<string, Map<string, Bind>>();
  #open = onceFor(() => open(this));
  /** Checks the table as `ready` does, but only once: a renewal needs no time of the server, and must not wait for a connection of the pool. */
  readonly identify = onceFor(() => this.#open());

  /** @throws LockError `LOCK_INVALID` for a bad name */
  constructor(pool: MysqlPool, name: string, clock: Clock, backend: string) {
    this.name = quoteTable(name);
    this.backend = backend;
    this.server = new Server(pool, clock);
    this.#serverClock = new ServerClock(clock);
  }

  /** Checks the table at the first use, and again if no answer has shown the server's clock for long. Many processes may do so at once. */
  ready(): Promise<void> {
    if (this.#serverClock.age > MAX_CLOCK_AGE_MS) this.#open = onceFor(() => open(this));
    return this.#open().then(this.identify);
  }

  /** The name of the table in `information_schema`. An empty `database` means the database of the session. */
  get address(): { readonly database: string; readonly relation: string } {
    const [relation = '', database = ''] = this.name.replaceAll('`', '').split('.').reverse();
    return { database, relation };
  }

  bind(text: string, values: NamedValues = {}, list?: List): Bound {
    const members = list?.text ?? '';
    let found = this.#statements.get(text)?.get(members);
    if (!found) {
      found = statement(text, { table: this.name, list: members });
      this.#statements.set(text, (this.#statements.get(text) ?? new Map()).set(members, found));
    }
    return found(values, list?.values ?? []);
  }

  /** @param now the server's time in an answer that just came, µs */
  learn(now: unknown): void {
    this.#serverClock.learn(Number(now) / US_PER_MS);
  }

  /**
   * Gives the server's time, µs, after which a statement comes too late. While the server's clock is not known, gives 0, which is long past.
   * @param sent when the attempt was asked for; undefined: now
   */
  limit(within: number, sent?: number): string {
    return `${Math.floor((this.#serverClock.in(within, sent) ?? 0) * US_PER_MS)}`;
  }

  /** Reads rows. A column `now`, if there is one, is the server's time. */
  async read(text: string, values?: NamedValues, list?: List): Promise<PoolRow[]> {
    const rows = (await this.#run(text, values, list)) as PoolRow[];
    if (rows[0]?.now !== undefined) this.learn(rows[0].now);
    return rows;
  }

  write(text: string, values?: NamedValues, list?: List): Promise<Header> {
    return this.#run(text, values, list) as Promise<Header>;
  }

  /** Makes a table. CREATE TABLE commits an open transaction of its session, so it is refused if one is open. */
  async make(text: string): Promise<void> {
    await this.#translateErrors(this.server.runAlone(this.bind(text)));
  }

  #run(text: string, values?: NamedValues, list?: List): Promise<unknown> {
    return this.#translateErrors(this.server.run(this.bind(text, values, list)));
  }

  #translateErrors<T>(answer: Promise<T>): Promise<T> {
    return answer.catch((error) => {
      throw translateError(error, this.backend);
    });
  }
}

/** Quotes `table` or `database.table`. A name has 64 characters at most. */
function quoteTable(name: string): string {
  if (!/^(\w{1,64}\.)?\w{1,64}$/.test(name)) {
    const form = 'letters, digits and _, 64 at most, and may have its database before a dot';
    throw invalid(`table is ${shown(name)}; it must be ${form}`);
  }
  return name
    .split('.')
    .map((part) => `\`${part}\``)
    .join('.');
}

/**
 * The format of the rows. The database has no code of ours: each process sends its own statements. Versions of holdfast with the same format can
 * share a table. A version with another format must use another table, and never change this one: no process checks the format at each step.
 */
const FORMAT = 'holdfast 1';

/** Checks the format of the table, and makes the table if it is missing. @throws LockError `LOCK_UNAVAILABLE` */
async function open(table: Table): Promise<void> {
  const row = await ownRow(table).catch((error) => {
    // This is the first session of the pool that we use. Most likely all are like it, so another try would not help.
    if (!(error instanceof LeftOpen) || error.what !== 'autocommit off') throw error;
    throw refusal(table.backend, 'a session of the pool does not commit by itself', 'leave autocommit on', error);
  });
  const format = String(row?.format);
  if (format === FORMAT) return;
  const advice = 'let all processes use the same version of holdfast, or give this one a table of its own';
  throw refusal(table.backend, `the table ${table.name} has the format ${shown(format)}, not ${FORMAT}`, advice);
}

/** Reads the row with the empty name, which is the table's own, and makes it if it is missing. */
async function ownRow(table: Table): Promise<PoolRow | undefined> {
  const known = await table.read(greet).catch((error) => {
    if (isNoTable(error.cause)) return [];
    throw error;
  });
  if (known.length > 0) return known[0];
  await table.make(setup);
  await table.write(found, { format: FORMAT });
  return (await table.read(greet))[0];
}
