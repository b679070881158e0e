import type { Cancel, Clock } from '../../core/clock.ts';
import { milliseconds } from '../../core/duration.ts';
import { MICRO, survey } from './place.ts';
import * as sql from './sql.generated.ts';
import { namesOf } from './statement.ts';
import type { Table } from './table.ts';

const DAY = 86_400_000;
const TEN_MINUTES = 600_000;

export interface SweepOptions {
  readonly idle?: number;
  readonly sweep?: number;
}

/** Takes away the rows of keys that nobody uses any more. Of all processes, one does it in each interval. */
export class Sweeper {
  readonly #table: Table;
  readonly #clock: Clock;
  readonly #idle: string;
  readonly #interval: number;
  #cancel: Cancel | undefined;
  #closed = false;

  constructor(table: Table, clock: Clock, { idle = DAY, sweep = TEN_MINUTES }: SweepOptions) {
    this.#table = table;
    this.#clock = clock;
    this.#idle = `${Math.round(milliseconds(idle, 'idle') * MICRO)}`;
    this.#interval = milliseconds(sweep, 'sweep');
    if (this.#interval > 0) this.#schedule();
  }

  /** How many rows it took away. The dead in a line it clears, and leaves the row for a later sweep. */
  async sweep(): Promise<number> {
    await this.#table.ready();
    let swept = 0;
    for (let after: Buffer = Buffer.alloc(0); ; ) {
      const rows = await this.#table.read(sql.idle, { after, idle: this.#idle });
      if (rows.length === 0 || this.#closed) return swept;
      after = rows.at(-1)!.name as Buffer;
      const free = rows.filter(({ line }) => (line as Buffer).length === 0);
      if (free.length > 0) {
        const ticket = `${free.map((row) => BigInt(row.ticket as number | string)).reduce((a, b) => (a > b ? a : b))}`;
        await this.#table.write(sql.floor, { ticket });
        const gone = await this.#table.write(
          sql.sweep,
          { ticket, idle: this.#idle },
          namesOf(free.map(({ name }) => name as Buffer)),
        );
        swept += gone.affectedRows;
      }
      for (const { name, line, now } of rows) {
        const { lapsed, text } = survey(String(line), Number(now));
        if (lapsed) await this.#table.write(sql.swap, { name: name as Buffer, old: line as Buffer, new: text });
      }
    }
  }

  close(): void {
    this.#closed = true;
    this.#cancel?.();
  }

  #schedule(): void {
    const pause = this.#interval * (0.75 + this.#clock.random() / 2);
    this.#cancel = this.#clock.after(pause, () => void this.#turn(), true);
  }

  async #turn(): Promise<void> {
    try {
      await this.#table.ready();
      const { affectedRows } = await this.#table.write(sql.turn, { interval: `${this.#interval * MICRO}` });
      if (affectedRows > 0) await this.sweep();
    } catch {
      // Another process may, or this one next time: nothing but space is lost.
    }
    if (!this.#closed) this.#schedule();
  }
}
