import type { Claim, Hints, Listing, QueueEntry, Renewal, Values } from '../../core/index.ts';
import { StoredNames } from '../shared/names.ts';
import { hintsBy, valuesBy } from '../shared/queue.ts';
import { overAt } from '../shared/record.ts';
import type { PoolRow } from './pool.ts';
import * as sql from './sql.generated.ts';
import { claimsOf, nameList, portions } from './statements.ts';
import { mark, micro, RowQueue, type StoredRow, US_PER_MS } from './stored-queue.ts';
import type { Table } from './table.ts';

/** How often a step reads its row again because others have changed the row meanwhile. After that, the outcome of the step is unknown. */
const MAX_RETRIES = 64;
/** A limit of time that is never reached, for a step that may come late. */
export const FOREVER = `${Number.MAX_SAFE_INTEGER}`;

/** The queues, values and hints in the table. */
export class Queues {
  readonly table: Table;
  readonly names: StoredNames;

  constructor(table: Table, prefix: string) {
    this.table = table;
    this.names = new StoredNames(prefix);
  }

  async read(keys: readonly string[]): Promise<Map<string, RowQueue>> {
    const queues = new Map<string, RowQueue>();
    for (const portion of portions(keys)) {
      const rows = await this.table.read(sql.read, {}, nameList(portion.map((key) => this.names.of(key))));
      for (const row of rows)
        if (String(row.name) !== '') queues.set(this.names.keyOf(row.name as Buffer), new RowQueue(rowOf(row)));
    }
    return queues;
  }

  /** Reads the row of a name. @param touched as for `step` */
  async open(name: Buffer, touched?: string): Promise<RowQueue> {
    await this.table.ready();
    const [row] = await this.table.read(sql.row, { name });
    return new RowQueue(rowOf(row!), touched);
  }

  /**
   * Makes one step of a queue, as `act` decides. If `act` or an expiry has changed the queue, writes the row.
   * @param notAfter the server's time, µs, after which the step is too late
   * @param touched the id of a claim that a statement of this step has just renewed
   * @returns undefined if the step was too late
   */
  async step<T>(
    name: Buffer,
    act: (queue: RowQueue) => T,
    notAfter: string = FOREVER,
    touched?: string,
  ): Promise<T | undefined> {
    for (let attempts = 0; attempts < MAX_RETRIES; attempts++) {
      const queue = await this.open(name, touched);
      if (queue.stored.now * US_PER_MS > Number(notAfter)) return undefined;
      const answer = act(queue);
      if (queue.isStored) return answer;
      if (queue.stored.token === undefined) await this.table.write(sql.create, { name });
      else if (await this.#swap(name, queue, notAfter)) return answer;
    }
    throw new Error(`the queue was changed each of ${MAX_RETRIES} times it was looked at`);
  }

  /** Renews claims, each of another key. @returns how many were renewed */
  async touch(claims: readonly Claim[], notAfter: string, keeps: '0' | '1'): Promise<number> {
    const list = claimsOf(claims.map(({ key, id, ttl }) => [this.names.of(key), mark(id), micro(ttl)]));
    return (await this.table.write(sql.touch, { notAfter, keeps }, list)).affectedRows;
  }

  readonly renew = (claim: Claim): Promise<Renewal> => this.#stepOf(claim.key, (queue) => queue.renew(claim));
  readonly hints: Hints = hintsBy((key, act) => this.#stepOf(key, act));
  readonly values: Values = valuesBy(
    (key, act) => this.#stepOf(key, act),
    (prefix) => this.#keysWithValues(prefix),
  );

  /** Lists the queues of the keys that begin with `prefix`, or with `exact` only of the key `prefix`, some rows at a time. */
  async *inspect(prefix: string, { exact = false }: Listing): AsyncGenerator<QueueEntry> {
    for await (const row of this.#pages(prefix, exact, '0'))
      yield* new RowQueue(rowOf(row)).entries(this.names.keyOf(row.name as Buffer));
  }

  async *#keysWithValues(prefix: string): AsyncGenerator<string> {
    for await (const { name } of this.#pages(prefix, false, '1')) yield this.names.keyOf(name as Buffer);
  }

  async #stepOf<T>(key: string, act: (queue: RowQueue) => T): Promise<T> {
    return (await this.step(this.names.of(key), act))!;
  }

  async #swap(name: Buffer, queue: RowQueue, notAfter: string): Promise<boolean> {
    const { stored, text, token, value, record } = queue;
    const before = { oldQueue: stored.queue, oldToken: `${stored.token}`, oldValue: Buffer.from(stored.value!) };
    if (text.length > Math.max(stored.queue.length, stored.most!))
      throw new Error('the queue has no room for one more claim');
    const ends = record ? micro(overAt(record)) : '0';
    const after = { queue: text, token: `${token}`, value: Buffer.from(value), ends };
    return (await this.table.write(sql.swap, { name, ...before, ...after, notAfter })).affectedRows > 0;
  }

  /** Reads the rows that have claims, or a value if `values` is `1`: of the keys that begin with `prefix`, or with `exact` only of the key `prefix`. */
  async *#pages(prefix: string, exact: boolean, values: '0' | '1'): AsyncGenerator<PoolRow> {
    await this.table.ready();
    for (let { from, to } = this.names.range(prefix, exact); ; ) {
      const rows = (await this.table.read(sql.list, { from, to, values })).slice(1);
      yield* rows;
      if (rows.length === 0) return;
      from = Buffer.concat([rows.at(-1)!.name as Buffer, Uint8Array.of(0)]);
    }
  }
}

/** The columns are null where the key has no row. */
const rowOf = ({ queue, now, latest, token, value, most }: PoolRow): StoredRow => ({
  queue: String(queue ?? ''),
  now: Number(now) / US_PER_MS,
  ...(latest !== undefined && { latest: Number(latest) / US_PER_MS, value: String(value ?? ''), most: Number(most) }),
  ...(token !== undefined && token !== null && { token: BigInt(token as number | string) }),
});
