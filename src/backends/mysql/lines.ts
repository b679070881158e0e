import type { Claim } from '../../core/contract/backend.ts';
import type { MysqlPool } from './pool.ts';
import { read, touch } from './sql.generated.ts';
import { claimsOf, nameList, portions } from './statements.ts';
import { MICRO, mark } from './stored-line.ts';
import type { Table } from './table.ts';

/** A line as it was read. */
export interface Line {
  readonly text: string;
  /** The server's time then, µs. */
  readonly now: number;
}

/** The lines of keys, as they stand in the table. */
export class Lines {
  readonly table: Table;
  readonly #prefix: string;

  constructor(table: Table, prefix: string) {
    this.table = table;
    this.#prefix = prefix;
  }

  /** The same lines over other connections. */
  over(pool: MysqlPool): Lines {
    return new Lines(this.table.over(pool), this.#prefix);
  }

  lockNameOf(key: string): Buffer {
    return Buffer.from(`${this.#prefix}/${key}`);
  }

  keyOf(name: unknown): string {
    return String(name).slice(this.#prefix.length + 1);
  }

  async read(keys: readonly string[]): Promise<Map<string, Line>> {
    const lines = new Map<string, Line>();
    for (const portion of portions(keys)) {
      const rows = await this.table.read(read, {}, nameList(portion.map((key) => this.lockNameOf(key))));
      for (const { name, line, now } of rows) lines.set(this.keyOf(name), { text: String(line), now: Number(now) });
    }
    lines.delete(''); // the table's own row; a key is never empty
    return lines;
  }

  /** Renews claims, each of another key. @returns how many were alive, and now live for another ttl */
  async touch(claims: readonly Claim[], notAfter: string, keeps: '0' | '1'): Promise<number> {
    const list = claimsOf(
      claims.map(({ key, id, ttl }) => [this.lockNameOf(key), mark(id), `${Math.round(ttl * MICRO)}`]),
    );
    return (await this.table.write(touch, { notAfter, keeps }, list)).affectedRows;
  }
}
