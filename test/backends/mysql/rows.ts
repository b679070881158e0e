import type { Pool, RowDataPacket } from 'mysql2/promise';
import type { Header, PoolRow } from '../../../src/backends/mysql/pool.ts';
import { greet } from '../../../src/backends/mysql/sql.generated.ts';
import type { List, NamedValues } from '../../../src/backends/mysql/statements.ts';
import { mark } from '../../../src/backends/mysql/stored-queue.ts';
import { Table } from '../../../src/backends/mysql/table.ts';
import { systemClock } from '../../../src/core/contract/clock.ts';
import type { Host } from './server.ts';

export interface Stored {
  readonly token: number;
  readonly queue: string;
  /** µs. */
  readonly used: number;
}

/** s, as µs. */
export const seconds = (count: number): number => count * 1_000_000;

/** A table of the whole numbers from 1 to `last`, in the column `seq`: MariaDB has such tables, MySQL has not. */
export function numbersTo(last: number): string {
  const digit = Array.from({ length: 10 }, (_, i) => `SELECT ${i} AS d`).join(' UNION ALL ');
  const digits = Array.from({ length: `${last}`.length }, (_, i) => `(${digit}) AS d${i}`);
  const sum = digits.map((_, i) => `d${i}.d * ${10 ** i}`).join(' + ');
  return `(SELECT 1 + ${sum} AS seq FROM ${digits.join(', ')} HAVING seq <= ${last}) AS numbers`;
}

/** A place as `join` writes it. @param until µs */
export const placeOf = (id: string, until: number, token = 1): string =>
  `${mark(id)}${until} ${token} 1 1 30000000 ${until - seconds(30)} - ;`;

/** One table, and what single statements make of its rows. */
export class Rows {
  readonly table: Table;
  readonly name: string;
  readonly #pool: Pool;

  private constructor(pool: Pool, name: string) {
    this.#pool = pool;
    this.name = name;
    this.table = new Table(pool, name, systemClock, 'mysql');
  }

  /** @param name of the table @param sessions at most */
  static async of(host: Host, name: string, sessions = 2): Promise<Rows> {
    const rows = new Rows(host.pool({ connectionLimit: sessions }), name);
    await rows.table.ready();
    return rows;
  }

  /** The server's time, µs. */
  async now(): Promise<number> {
    return Number((await this.table.read(greet))[0]!.now);
  }

  async put(key: string, { token = 1, queue = '', used = 0 }: Partial<Stored>): Promise<void> {
    const values = [Buffer.from(key), token, used, queue];
    await this.#pool.query(
      `REPLACE INTO ${this.name} (name, token, used, queue, value) VALUES (?, ?, ?, ?, '')`,
      values,
    );
  }

  /** All rows but the table's own. */
  async all(): Promise<Record<string, Stored>> {
    const [rows] = await this.#pool.query<RowDataPacket[]>(`SELECT * FROM ${this.name} WHERE name <> ''`);
    return Object.fromEntries(
      rows.map(({ name, token, queue, used }) => [String(name), { token, queue: String(queue), used }]),
    );
  }

  /** The table's own row. */
  async own(): Promise<Stored> {
    const [[row]] = await this.#pool.query<RowDataPacket[]>(`SELECT * FROM ${this.name} WHERE name = ''`);
    return { token: row!.token, queue: String(row!.queue), used: row!.used };
  }

  /** As it is, past the product. */
  async query(text: string): Promise<RowDataPacket[]> {
    return (await this.#pool.query<RowDataPacket[]>(text))[0];
  }

  read(text: string, values?: NamedValues, list?: List): Promise<PoolRow[]> {
    return this.table.read(text, values, list);
  }

  write(text: string, values?: NamedValues, list?: List): Promise<Header> {
    return this.table.write(text, values, list);
  }

  async clear(): Promise<void> {
    await this.#pool.query(`DELETE FROM ${this.name} WHERE name <> ''`);
    await this.#pool.query(`UPDATE ${this.name} SET token = 0, used = 0 WHERE name = ''`);
  }
}
