import type { Claim, Listing, QueueEntry } from '../../core/index.ts';
import { entriesOf } from '../shared/stored-queue.ts';
import type { Row } from './connection.ts';
import type { MysqlPool } from './pool.ts';
import { hintRead, hintWrite, list, read, touch, valueForget } from './sql.generated.ts';
import { claimsOf, nameList, portions } from './statements.ts';
import { liveQueue, MICRO, mark, type QueueText } from './stored-queue.ts';
import type { Table } from './table.ts';

/** Below and above every byte of UTF-8. */
const [FIRST_BYTE, LAST_BYTE] = [Buffer.from([0]), Buffer.from([255])];

/** From the first name up to, but not including, the second. */
type Names = Readonly<Record<'from' | 'to', Buffer>>;

/** The queues of keys, and hints, as they stand in the table. */
export class Queues {
  readonly table: Table;
  readonly #prefix: string;

  constructor(table: Table, prefix: string) {
    this.table = table;
    this.#prefix = prefix;
  }

  /** The same queues over other connections. */
  over(pool: MysqlPool): Queues {
    return new Queues(this.table.over(pool), this.#prefix);
  }

  lockNameOf(key: string): Buffer {
    return Buffer.from(`${this.#prefix}/${key}`);
  }

  keyOf(name: unknown): string {
    return String(name).slice(this.#prefix.length + 1);
  }

  async read(keys: readonly string[]): Promise<Map<string, QueueText>> {
    const queues = new Map<string, QueueText>();
    for (const portion of portions(keys)) {
      const rows = await this.table.read(read, {}, nameList(portion.map((key) => this.lockNameOf(key))));
      for (const row of rows) queues.set(this.keyOf(row.name), textOf(row));
    }
    queues.delete(''); // the table's own row; a key is never empty
    return queues;
  }

  /** Renews claims, each of another key. @returns how many were alive, and now live for another ttl */
  async touch(claims: readonly Claim[], notAfter: string, keeps: '0' | '1'): Promise<number> {
    const list = claimsOf(
      claims.map(({ key, id, ttl }) => [this.lockNameOf(key), mark(id), `${Math.round(ttl * MICRO)}`]),
    );
    return (await this.table.write(touch, { notAfter, keeps }, list)).affectedRows;
  }

  /** The queues of the keys that begin with `prefix`, or of that key, some rows at a time. */
  async *inspect(prefix: string, { exact = false }: Listing): AsyncGenerator<QueueEntry> {
    const ask = async (names: Names): Promise<Row[]> => (await this.table.read(list, names)).slice(1);
    for await (const row of this.pages(ask, prefix, exact)) {
      const { claims, now } = liveQueue(textOf(row));
      const listed = claims.map((claim) => ({ ...claim, remaining: claim.expires - now, since: now - claim.joined }));
      yield* entriesOf(this.keyOf(row.name), listed);
    }
  }

  async readHint(name: string): Promise<string | undefined> {
    await this.table.ready();
    const [row] = await this.table.read(hintRead, { name: this.#hintNameOf(name) });
    return row!.text === null ? undefined : String(row!.text);
  }

  async writeHint(hint: string, text: string | undefined, ttl: number): Promise<void> {
    await this.table.ready();
    const name = this.#hintNameOf(hint);
    if (text === undefined) await this.table.write(valueForget, { name });
    else await this.table.write(hintWrite, { name, text: Buffer.from(text), ttl: `${Math.ceil(ttl * MICRO)}` });
  }

  /** No prefix has this mark, so no key has this name. */
  #hintNameOf(name: string): Buffer {
    return Buffer.from(`!${this.#prefix}/${name}`);
  }

  /** All rows of the keys that begin with `prefix`, or of that key. @param ask gives the first of them, in the order of their names */
  async *pages(ask: (names: Names) => Promise<readonly Row[]>, prefix: string, exact = false): AsyncGenerator<Row> {
    const to = Buffer.concat([this.lockNameOf(prefix), exact ? FIRST_BYTE : LAST_BYTE]);
    for (let from = this.lockNameOf(prefix); ; ) {
      const rows = await ask({ from, to });
      yield* rows;
      if (rows.length === 0) return;
      from = Buffer.concat([rows.at(-1)!.name as Buffer, FIRST_BYTE]);
    }
  }
}

/** The queue in a row. */
export const textOf = ({ queue, now }: Row): QueueText => ({ text: String(queue), now: Number(now) / MICRO });
