import { type Cell, type Entry, readsOf } from '../cell.ts';
import { decide } from '../rule.ts';
import type { Layout, StockStore } from '../store.ts';

/** One cell with its requests. */
class StoredCell {
  cell: Cell | undefined;
  readonly entries = new Map<string, Entry>();
  readonly reserved = new Map<string, Entry>();
  readonly bought = new Map<string, number>();
  soonest = Number.POSITIVE_INFINITY;

  due(now: number): Entry[] {
    return now < this.soonest ? [] : [...this.reserved.values()].filter(({ until }) => until <= now);
  }

  write(entry: Entry): void {
    const before = weight(this.entries.get(entry.id));
    this.entries.set(entry.id, entry);
    this.bought.set(entry.buyer, (this.bought.get(entry.buyer) ?? 0) + weight(entry) - before);
    if (entry.status === 'reserved') {
      this.reserved.set(entry.id, entry);
      this.soonest = Math.min(this.soonest, entry.until);
    } else if (this.reserved.delete(entry.id) && this.reserved.size === 0) this.soonest = Number.POSITIVE_INFINITY;
  }
}

/** How many units of the buyer's limit a request uses. */
const weight = (entry: Entry | undefined): number =>
  entry?.status === 'reserved' || entry?.status === 'sold' ? entry.units : 0;

/**
 * A store in this process: for tests, and as the reference for the other stores.
 * @param now ms; the machine's wall clock by default
 * @example const stock = createStock(memoryStock());
 */
export function memoryStock({ now = Date.now }: { readonly now?: () => number } = {}): StockStore {
  const layouts = new Map<string, Layout>();
  const cells = new Map<string, StoredCell>();
  return {
    name: 'memory',
    servers: 1,
    layout: async (product) => layouts.get(product),
    async relayout(product, was, layout) {
      const is = layouts.get(product);
      if (is?.identity !== was?.identity || is?.version !== was?.version) return false;
      if (layout) layouts.set(product, layout);
      else layouts.delete(product);
      return true;
    },
    async step(address, cell, steps) {
      const name = `${address}/${cell}`;
      const stored = cells.get(name) ?? new StoredCell();
      const time = now();
      const { ids, tally } = readsOf(steps);
      const entries = [...stored.due(time), ...ids.flatMap((id) => stored.entries.get(id) ?? [])];
      const portion = tally && { entries: [...stored.entries.values()], next: undefined };
      const outcome = decide(
        { cell: stored.cell, entries, bought: stored.bought, ...(portion && { portion }) },
        steps,
        time,
      );
      for (const entry of outcome.written) stored.write(entry);
      stored.cell = outcome.cell;
      if (stored.cell) cells.set(name, stored);
      return outcome.replies;
    },
    async clear(address, cell) {
      cells.delete(`${address}/${cell}`);
      return true;
    },
  };
}
