import type { Clock } from '../../core/clock.ts';
import { invalid, shown } from '../../core/errors.ts';
import { ServerClock } from '../../core/server-clock.ts';
import { Client } from './client.ts';
import { isNoTable, mapped, refused } from './errors.ts';
import { LeftOpen } from './left-open.ts';
import { MICRO } from './place.ts';
import type { Header, MysqlPool, Row } from './pool.ts';
import { found, greet, setup } from './sql.generated.ts';
import { type Bound, type List, type Statement, statement, type Values } from './statements.ts';

/**
 * Of the lines in the table. What is stored is nothing but these: the statements travel with each process, so no version has to be
 * replaced. Versions of one format lock together; one that writes another must take a table of another name, never change this one in
 * place: a process that has looked at the format goes on by it.
 */
const FORMAT = 'holdfast 1';
/** Longer than this without a look at the server's clock, and it is looked at again. ms. */
const STALE = 300_000;

/** The table: made when it is not there, and made sure of; its statements, and what they told of the server's time. */
export class Table {
  readonly #serverClock: ServerClock;
  readonly client: Client;
  readonly #backend: string;
  readonly #name: string;
  /** By the file and its list: put together they would be a long text to hash for each act. */
  readonly #statements = new Map<string, Map<string, Statement>>();
  #ready: Promise<void> | undefined;

  /** @throws LockError `LOCK_INVALID` for a bad name */
  constructor(pool: MysqlPool, name: string, clock: Clock, backend: string) {
    this.#name = quoted(name);
    this.#backend = backend;
    this.client = new Client(pool, clock);
    this.#serverClock = new ServerClock(clock);
  }

  /** Done once, and again when the server's time was not heard of for long. Many processes may, at once. */
  ready(): Promise<void> {
    if (this.#serverClock.age > STALE) this.#ready = undefined;
    this.#ready ??= this.#greet().catch((error) => {
      this.#ready = undefined;
      throw error;
    });
    return this.#ready;
  }

  /** For the server's own tables of tables. */
  get address(): { readonly database: string; readonly relation: string } {
    const [relation = '', database = ''] = this.#name.replaceAll('`', '').split('.').reverse();
    return { database, relation };
  }

  /** As it was found first. What needs no time of the server asks no more than that: it may have to wait for a connection. */
  known(): Promise<void> {
    return this.#ready ?? this.ready();
  }

  /** The values of a statement in its order. */
  bind(text: string, values: Values = {}, list?: List): Bound {
    const members = list?.text ?? '';
    let found = this.#statements.get(text)?.get(members);
    if (!found) {
      found = statement(text, { table: this.#name, notes: `${this.#name.slice(0, -1)}_notes\``, list: members });
      this.#statements.set(text, (this.#statements.get(text) ?? new Map()).set(members, found));
    }
    return found.bind(values, list?.values ?? []);
  }

  /** @param now µs, of an answer that just came */
  learn(now: unknown): void {
    this.#serverClock.learn(Number(now) / MICRO);
  }

  /** The server's time, µs, after which a message that is sent now comes too late; the past, while nothing is known. */
  limit(within: number): string {
    return `${Math.floor((this.#serverClock.in(within) ?? 0) * MICRO)}`;
  }

  /** Rows; their `now`, if they have one, is the server's time. */
  async read(text: string, values?: Values, list?: List): Promise<Row[]> {
    const rows = (await this.#run(text, values, list)) as Row[];
    if (rows[0]?.now !== undefined) this.learn(rows[0].now);
    return rows;
  }

  write(text: string, values?: Values, list?: List): Promise<Header> {
    return this.#run(text, values, list) as Promise<Header>;
  }

  /** A table. It commits whatever is open on its session, so nothing may be. */
  async make(text: string): Promise<void> {
    try {
      await this.client.runAlone(this.bind(text));
    } catch (error) {
      throw this.mapped(error);
    }
  }

  async #run(text: string, values?: Values, list?: List): Promise<unknown> {
    try {
      return await this.client.run(this.bind(text, values, list));
    } catch (error) {
      throw this.mapped(error);
    }
  }

  /** A definite refusal as a `LockError`; anything else, whose outcome is unknown, as it is. */
  mapped(error: unknown): unknown {
    return mapped(error, this.#backend);
  }

  async #greet(): Promise<void> {
    const row = await this.#own();
    const format = String(row?.format);
    if (format !== FORMAT) {
      const advice = 'let all processes use the same version of holdfast, or give this one a table of its own';
      throw refused(this.#backend, `the table ${this.#name} has the format ${shown(format)}, not ${FORMAT}`, advice);
    }
  }

  /** The table's own row; made where there is none. */
  async #own(): Promise<Row | undefined> {
    try {
      return (await this.#welcome()) ?? (await this.#found());
    } catch (error) {
      // The first session that is seen of the pool, so most likely all are like that: no other try would help.
      if (!(error instanceof LeftOpen) || error.what !== 'autocommit off') throw error;
      throw refused(this.#backend, 'a session of the pool does not commit by itself', 'leave autocommit on', error);
    }
  }

  /** If there is a table with one. */
  async #welcome(): Promise<Row | undefined> {
    try {
      return (await this.read(greet))[0];
    } catch (error) {
      if (isNoTable((error as Error).cause)) return undefined;
      throw error;
    }
  }

  async #found(): Promise<Row | undefined> {
    await this.make(setup);
    await this.write(found, { format: FORMAT });
    return this.#welcome();
  }
}

/** `table` or `database.table`, of plain letters, digits and `_`; 64 is the most, and that of the notes has 6 more. */
function quoted(name: string): string {
  if (!/^(\w{1,64}\.)?\w{1,58}$/.test(name)) {
    const form = 'letters, digits and _, 58 at most, and may have its database before a dot';
    throw invalid(`table is ${shown(name)}; it must be ${form}`);
  }
  return name
    .split('.')
    .map((part) => `\`${part}\``)
    .join('.');
}
