import type { Clock } from '../../core/clock.ts';
import { invalid, shown } from '../../core/errors.ts';
import { EngineTime } from './engine-time.ts';
import { isNoTable, isPassing, mapped, refused } from './errors.ts';
import {
  type Connection,
  type Header,
  type MysqlPool,
  type PromisePool,
  promised,
  type Row,
  type Value,
} from './pool.ts';
import { create, found, greet, setup } from './sql.generated.ts';
import { bind, type Statement, statement } from './statement.ts';

const FORMAT = 'holdfast 1';
/** Tries of a statement that lost a deadlock or a wait for a row, and the longest pause between them, ms. */
const TRIES = 5;
const PAUSE = 20;
/** Longest time for one statement, ms. After it the connection is given up: what it may still do is bounded by `notAfter`. */
const PATIENCE = 10_000;
/** SERVER_STATUS_IN_TRANS: the statement is not committed. */
const IN_TRANSACTION = 1;

/** The table and the pool it is reached by: statements, one at a time, each committed by itself. */
export class Table {
  readonly time: EngineTime;
  readonly clock: Clock;
  readonly pool: PromisePool;
  readonly backend: string;
  readonly #name: string;
  readonly #statements = new Map<string, Statement>();
  #ready: Promise<void> | undefined;

  constructor(pool: MysqlPool, name: string, clock: Clock, backend: string) {
    this.pool = promised(pool);
    this.#name = quoted(name);
    this.clock = clock;
    this.backend = backend;
    this.time = new EngineTime(clock);
  }

  /** Makes the table if it is not there, and makes sure that it is one we know. Many processes may, at once. */
  ready(): Promise<void> {
    if (this.time.stale) this.#ready = undefined;
    this.#ready ??= this.#greet().catch((error) => {
      this.#ready = undefined;
      throw error;
    });
    return this.#ready;
  }

  async #greet(): Promise<void> {
    let row = await this.#welcome();
    if (!row) {
      await this.#run(setup).catch((error) => {
        throw this.#refusal(error);
      });
      await this.write(found, { format: FORMAT });
      row = await this.#welcome();
    }
    const format = String(row?.format);
    if (format !== FORMAT) {
      const advice = 'let all processes use the same version of holdfast, or give this one a table of its own';
      throw refused(this.backend, `the table ${this.#name} has the format ${shown(format)}, not ${FORMAT}`, advice);
    }
    if (Number(row!.autocommit) !== 1) throw this.#uncommitted();
    this.time.learn(Number(row!.now));
  }

  /** The table's own row, if there is a table with one. */
  async #welcome(): Promise<Row | undefined> {
    try {
      return (await this.read(greet))[0];
    } catch (error) {
      if (isNoTable((error as Error).cause)) return undefined;
      throw error;
    }
  }

  async createRow(name: Buffer): Promise<void> {
    await this.write(create, { name });
  }

  /** Rows, and the server's time if they have it. */
  async read(
    text: string,
    values: Record<string, Value> = {},
    parts?: Record<string, string>,
    list?: readonly Value[],
  ): Promise<Row[]> {
    const rows = (await this.#settled(text, values, parts, list)) as Row[];
    if (rows[0]?.now !== undefined) this.time.learn(Number(rows[0].now));
    return rows;
  }

  write(
    text: string,
    values: Record<string, Value> = {},
    parts?: Record<string, string>,
    list?: readonly Value[],
  ): Promise<Header> {
    return this.#settled(text, values, parts, list) as Promise<Header>;
  }

  async #settled(...call: Parameters<Table['read']>): Promise<unknown> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#run(...call);
      } catch (error) {
        if (!isPassing(error) || tries === TRIES) throw this.#refusal(error);
        await new Promise<void>((resume) => this.clock.after(this.clock.random() * PAUSE * tries, resume));
      }
    }
  }

  async #run(
    text: string,
    values: Record<string, Value> = {},
    parts: Record<string, string> = {},
    list: readonly Value[] = [],
  ): Promise<unknown> {
    return this.withConnection((connection) => this.on(connection, text, values, parts, list));
  }

  /** One statement on one connection, with the driver's own errors. */
  async on(
    connection: Connection,
    text: string,
    values: Record<string, Value> = {},
    parts: Record<string, string> = {},
    list: readonly Value[] = [],
  ): Promise<unknown> {
    const { sql, names } = this.#statement(text, parts);
    const [result] = await connection.execute({ sql, timeout: PATIENCE }, bind(names, values, list));
    if (((result as Header).serverStatus ?? 0) & IN_TRANSACTION) throw this.#uncommitted();
    return result;
  }

  /** A connection of the pool for as long as `fn` takes; what it did before an error is not left to the next user. */
  async withConnection<T>(fn: (connection: Connection) => Promise<T>): Promise<T> {
    const connection = await this.pool.getConnection();
    let kept = false;
    try {
      const result = await fn(connection);
      kept = true;
      return result;
    } catch (error) {
      kept = (error as { sqlState?: string }).sqlState !== undefined && !(error as { fatal?: boolean }).fatal;
      throw error;
    } finally {
      if (kept) connection.release();
      else connection.destroy();
    }
  }

  #statement(text: string, parts: Record<string, string>): Statement {
    const key = Object.values(parts).join() + text;
    let found = this.#statements.get(key);
    if (found) return found;
    found = statement(text, { table: this.#name, ...parts });
    this.#statements.set(key, found);
    return found;
  }

  #refusal(error: unknown): unknown {
    return mapped(error, this.backend);
  }

  #uncommitted(): Error {
    return refused(
      this.backend,
      'the sessions of the pool do not commit by themselves',
      'leave autocommit on in this pool',
    );
  }
}

/** `table` or `database.table`, of plain letters, digits and `_`. */
function quoted(name: string): string {
  if (!/^\w{1,64}(\.\w{1,64})?$/.test(name)) {
    throw invalid(`table is ${shown(name)}; it must be letters, digits and _, and may have its database before a dot`);
  }
  return name
    .split('.')
    .map((part) => `\`${part}\``)
    .join('.');
}
