import { type Cancel, type Clock, milliseconds } from '../../core/index.ts';
import { repeat } from '../shared/repeat.ts';
import type { Row } from './pool.ts';
import type { Queues } from './queues.ts';
import * as sql from './sql.generated.ts';
import { nameList, portions } from './statements.ts';
import { micro } from './stored-queue.ts';
import type { Table } from './table.ts';

const IDLE_MS = 600_000;
const SWEEP_MS = 300_000;
/** Rows that one statement removes. */
const MAX_ROWS = 256;

export interface SweepOptions {
  readonly idle?: number;
  readonly sweep?: number;
}

/** Removes the rows of keys that nobody uses any more. In each interval, one of all processes does it. */
export class Sweeper {
  readonly #queues: Queues;
  readonly #table: Table;
  readonly #idle: string;
  readonly #stop: Cancel | undefined;
  #closed = false;

  constructor(queues: Queues, clock: Clock, { idle = IDLE_MS, sweep = SWEEP_MS }: SweepOptions) {
    this.#queues = queues;
    this.#table = queues.table;
    this.#idle = micro(milliseconds(idle, 'idle'));
    const interval = milliseconds(sweep, 'sweep');
    const pause = () => interval * (0.75 + clock.random() / 2);
    if (interval > 0) this.#stop = repeat(clock, pause, () => this.#turn(interval));
  }

  /** Where claims in a queue have expired, it clears them, and leaves the row for a later sweep. @returns how many rows it removed */
  async sweep(): Promise<number> {
    await this.#table.ready();
    let swept = 0;
    for (let after: Buffer = Buffer.alloc(0); !this.#closed; ) {
      const [page] = await this.#table.read(sql.page, { after });
      const last = page?.last as Buffer | null;
      if (last === null) return swept;
      const rows = await this.#table.read(sql.idle, { after, last, idle: this.#idle });
      const isFree = ({ queue }: Row): boolean => (queue as Buffer).length === 0;
      swept += await this.#remove(rows.filter(isFree));
      for (const row of rows) if (!isFree(row)) await this.#queues.step(row.name as Buffer, () => {});
      after = last;
    }
    return swept;
  }

  /** First the floor of the tokens, once for all: each change of it costs a commit. Then few rows at a time, so that nobody waits for long. */
  async #remove(free: readonly Row[]): Promise<number> {
    if (free.length === 0) return 0;
    const token = `${free.map((row) => BigInt(row.token as number | string)).reduce((a, b) => (a > b ? a : b))}`;
    await this.#table.write(sql.floor, { token });
    let removed = 0;
    for (const portion of portions(free, MAX_ROWS)) {
      const names = nameList(portion.map(({ name }) => name as Buffer));
      removed += (await this.#table.write(sql.sweep, { token, idle: this.#idle }, names)).affectedRows;
    }
    return removed;
  }

  close(): void {
    this.#closed = true;
    this.#stop?.();
  }

  async #turn(interval: number): Promise<void> {
    await this.#table.ready();
    const { affectedRows } = await this.#table.write(sql.turn, { interval: micro(interval) });
    if (affectedRows > 0) await this.sweep();
  }
}
