import type { Claim, Listing, QueueEntry } from '../../core/index.ts';
import type { Row } from './connection.ts';
import type { MysqlPool } from './pool.ts';
import { list, read, touch } from './sql.generated.ts';
import { claimsOf, nameList, portions } from './statements.ts';
import { expiry, liveLine, MICRO, mark } from './stored-queue.ts';
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

/** Below and above every byte of UTF-8. */
const [FIRST_BYTE, LAST_BYTE] = [Buffer.from([0]), Buffer.from([255])];

/** The lines of the keys that begin with `prefix`, some rows at a time. */
export async function* standings(lines: Lines, prefix: string, { exact = false }: Listing): AsyncGenerator<QueueEntry> {
  const ask = async (names: Names): Promise<Row[]> => (await lines.table.read(list, names)).slice(1);
  for await (const { name, line, now } of pages(ask, lines, prefix, exact))
    yield* standingsIn(lines.keyOf(name), String(line), Number(now));
}

/** From the first name up to, but not including, the second. */
export type Names = Readonly<Record<'from' | 'to', Buffer>>;

/** All rows of the keys that begin with `prefix`, or of that key. @param ask gives the first of them, in the order of their names */
export async function* pages(
  ask: (names: Names) => Promise<readonly Row[]>,
  lines: Lines,
  prefix: string,
  exact = false,
): AsyncGenerator<Row> {
  const to = Buffer.concat([lines.lockNameOf(prefix), exact ? FIRST_BYTE : LAST_BYTE]);
  for (let from = lines.lockNameOf(prefix); ; ) {
    const rows = await ask({ from, to });
    yield* rows;
    if (rows.length === 0) return;
    from = Buffer.concat([rows.at(-1)!.name as Buffer, FIRST_BYTE]);
  }
}

function* standingsIn(key: string, line: string, now: number): Generator<QueueEntry> {
  const { places, held } = liveLine(line, now);
  for (const [position, place] of places.entries()) {
    const { token, units, capacity, label, joined } = place;
    const holds = position < held;
    const remaining = (expiry(place, holds) - now) / MICRO;
    yield { key, held: holds, position, token, units, capacity, label, since: (now - joined) / MICRO, remaining };
  }
}
