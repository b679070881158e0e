import type { Cell, Entry } from './cell.ts';
import type { Reply } from './step.ts';

/** All that a step may depend on, as it is before the step. */
export interface View {
  readonly cell: Cell | undefined;
  /** The requests that the steps name, and all reservations that have run out. */
  readonly entries: readonly Entry[];
  /** How many units each buyer that the steps name has, reserved and sold. */
  readonly bought: ReadonlyMap<string, number>;
  /** For a step that tallies: the requests from its place on, and where the rest begins. */
  readonly portion?: { readonly entries: readonly Entry[]; readonly next: string | undefined };
}

/** A draft of one cell while a step is decided. It is a copy; the outcome is read from it. */
export class CellDraft {
  cell: Cell | undefined;
  readonly now: number;
  readonly written = new Map<string, Entry>();
  readonly #entries: Map<string, Entry>;
  readonly #bought: Map<string, number>;

  /** Reservations that have run out by `now` are given back. */
  constructor({ cell, entries, bought }: View, now: number) {
    this.cell = cell;
    this.now = now;
    this.#entries = new Map(entries.map((entry) => [entry.id, entry]));
    this.#bought = new Map(bought);
    for (const entry of this.#entries.values()) {
      if (entry.status === 'reserved' && entry.until <= now) this.giveBack(entry, 'expired');
    }
  }

  entry(id: string): Entry | undefined {
    return this.#entries.get(id);
  }

  write(entry: Entry): Entry {
    this.#entries.set(entry.id, entry);
    this.written.set(entry.id, entry);
    return entry;
  }

  change(change: Partial<Cell>): void {
    this.cell = { ...this.cell!, ...change };
  }

  boughtBy(buyer: string): number {
    return buyer === '' ? 0 : (this.#bought.get(buyer) ?? 0);
  }

  count(buyer: string, units: number): void {
    this.#bought.set(buyer, this.boughtBy(buyer) + units);
  }

  giveBack(entry: Entry, status: 'cancelled' | 'expired'): Entry {
    const { free, reserved, generation } = this.cell!;
    this.change({ free: free + entry.units, reserved: reserved - entry.units, generation: generation + 1 });
    this.count(entry.buyer, -entry.units);
    return this.write({ ...entry, status, until: 0 });
  }

  /** Remembers the token. @returns false when a newer one was seen. Compares digits as text: a double is exact only up to 2^53 */
  fence(token: string): boolean {
    const { fence } = this.cell!;
    if (token === '' || token === fence) return true;
    if (fence.length > token.length || (fence.length === token.length && fence > token)) return false;
    this.change({ fence: token });
    return true;
  }

  replyOf({ units, buyer, until }: Entry, is: Reply['is']): Reply {
    return { is, units, buyer, until, now: this.now };
  }
}
