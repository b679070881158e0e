import { type Cell, EMPTY, type Entry } from './cell.ts';
import type { Reply, Step, Take } from './step.ts';

/** All that a step may depend on, as it is before the step. */
export interface View {
  readonly cell: Cell | undefined;
  /** The requests that the steps name, and all that have run out. */
  readonly entries: readonly Entry[];
  /** Units reserved and sold, of the buyers that the steps name. */
  readonly bought: ReadonlyMap<string, number>;
  /** Where a step tallies: the requests from there on, and where the rest begins. */
  readonly portion?: { readonly entries: readonly Entry[]; readonly next: string | undefined };
}

export interface Outcome {
  readonly replies: readonly Reply[];
  readonly cell: Cell | undefined;
  /** Requests that are new or changed. */
  readonly written: readonly Entry[];
}

/**
 * The whole rule of stock: what a list of steps makes of one cell, at one moment. Whatever has run out comes back first.
 * Pure; memory and SQL apply it inside a transaction, and Redis says the same in Lua (redis/lua/step.lua).
 */
export function decide(view: View, steps: readonly Step[], now: number): Outcome {
  const desk = new Desk(view, now);
  desk.expire();
  const replies = steps.map((step) => desk.answer(step));
  return { replies, cell: desk.cell, written: [...desk.written.values()] };
}

/** One decision under way: works on copies. */
class Desk {
  cell: Cell | undefined;
  readonly written = new Map<string, Entry>();
  readonly #view: View;
  readonly #entries: Map<string, Entry>;
  readonly #bought: ReadonlyMap<string, number>;
  readonly #changed = new Map<string, number>();
  readonly #now: number;

  constructor(view: View, now: number) {
    this.#view = view;
    this.cell = view.cell;
    this.#entries = new Map(view.entries.map((entry) => [entry.id, entry]));
    this.#bought = view.bought;
    this.#now = now;
  }

  expire(): void {
    for (const entry of this.#entries.values()) {
      if (entry.status === 'reserved' && entry.until <= this.#now) this.#giveBack(entry, 'expired');
    }
  }

  answer(step: Step): Reply {
    if (step.op === 'open') {
      this.cell ??= EMPTY;
      this.#change({ epoch: Math.max(this.cell.epoch, step.epoch) });
      return { is: 'done' };
    }
    const { cell } = this;
    if (!cell) return { is: 'missing' };
    switch (step.op) {
      case 'put': {
        const known = this.#entries.get(step.id);
        if (known) return { is: known.units === step.units ? known.status : 'reused' };
        if (step.epoch !== cell.epoch) return { is: 'stale' };
        this.#write({ id: step.id, buyer: '', units: step.units, status: 'put', until: 0 });
        this.#change({ put: cell.put + step.units, free: cell.free + step.units, generation: cell.generation + 1 });
        return { is: 'done' };
      }
      case 'take':
        return this.#take(cell, step);
      case 'settle': {
        if (!this.#fence(cell, step.token)) return { is: 'fenced' };
        const entry = this.#entries.get(step.id);
        if (!entry || entry.status === 'put') return { is: 'unknown' };
        if (entry.status !== 'reserved') return { ...this.#told(entry), is: entry.status };
        if (step.to === 'cancelled') return { ...this.#told(this.#giveBack(entry, 'cancelled')), is: 'done' };
        const sold = this.#write({ ...entry, status: 'sold', until: 0 });
        this.#change({ reserved: cell.reserved - entry.units, sold: cell.sold + entry.units });
        return { ...this.#told(sold), is: 'done' };
      }
      case 'find': {
        const entry = this.#entries.get(step.id);
        return { ...(entry && this.#told(entry)), is: entry?.status ?? 'unknown', bought: this.#boughtBy(step.buyer) };
      }
      case 'send': {
        if (cell.moves[step.to]) return { is: 'busy', ...cell.moves[step.to] };
        const units = Math.min(step.units, cell.free);
        if (units <= 0) return { is: 'empty' };
        const seq = cell.seq + 1;
        const moves = { ...cell.moves, [step.to]: { seq, units } };
        this.#change({
          seq,
          moves,
          free: cell.free - units,
          out: cell.out + units,
          generation: cell.generation + 1,
        });
        return { is: 'done', seq, units };
      }
      case 'receive':
        if (step.seq <= (cell.seen[step.from] ?? 0)) return { is: 'done' };
        this.#change({
          seen: { ...cell.seen, [step.from]: step.seq },
          free: cell.free + step.units,
          in: cell.in + step.units,
          generation: cell.generation + 1,
        });
        return { is: 'done' };
      case 'clear': {
        const { [step.to]: move, ...moves } = cell.moves;
        if (move?.seq === step.seq) this.#change({ moves });
        return { is: 'done' };
      }
      case 'look':
        return { is: 'done', cell };
      case 'tally': {
        const { entries = [], next } = this.#view.portion ?? {};
        const shown = new Map(entries.map((entry) => [entry.id, entry]));
        const whole = next === undefined && step.from === undefined;
        for (const [id, entry] of this.written) if (whole || shown.has(id)) shown.set(id, entry);
        const sum = (status: string) =>
          [...shown.values()].reduce((units, entry) => units + (entry.status === status ? entry.units : 0), 0);
        const sums = { reserved: sum('reserved'), sold: sum('sold') };
        return { is: 'done', cell, ...sums, ...(next === undefined ? {} : { next }) };
      }
    }
  }

  #take(cell: Cell, { epoch, id, buyer, units, ttl, limit, already, token }: Take): Reply {
    if (epoch !== cell.epoch) return { is: 'stale' };
    if (!this.#fence(cell, token)) return { is: 'fenced' };
    const known = this.#entries.get(id);
    if (known) {
      const same = known.units === units && known.buyer === buyer && (ttl > 0 || known.status !== 'reserved');
      return same ? { ...this.#told(known), is: known.status } : { is: 'reused' };
    }
    const bought = this.#boughtBy(buyer);
    if (limit > 0 && already + bought + units > limit) return { is: 'limit', bought: already + bought };
    if (cell.free < units) return { is: 'empty' };
    const reserved = ttl > 0;
    const entry = this.#write({
      id,
      buyer,
      units,
      status: reserved ? 'reserved' : 'sold',
      until: reserved ? this.#now + ttl : 0,
    });
    this.#changed.set(buyer, bought + units);
    this.#change({
      free: cell.free - units,
      reserved: cell.reserved + (reserved ? units : 0),
      sold: cell.sold + (reserved ? 0 : units),
    });
    return { ...this.#told(entry), is: 'done' };
  }

  /** Raises the mark; false when a newer token was seen. Digits are compared as text: a double ends at 2^53. */
  #fence(cell: Cell, token: string): boolean {
    if (token === '' || token === cell.fence) return true;
    const { fence } = cell;
    if (fence.length > token.length || (fence.length === token.length && fence > token)) return false;
    this.#change({ fence: token });
    return true;
  }

  #giveBack(entry: Entry, status: 'cancelled' | 'expired'): Entry {
    const { free, reserved, generation } = this.cell!;
    this.#change({ free: free + entry.units, reserved: reserved - entry.units, generation: generation + 1 });
    this.#changed.set(entry.buyer, this.#boughtBy(entry.buyer) - entry.units);
    return this.#write({ ...entry, status, until: 0 });
  }

  #boughtBy(buyer: string): number {
    return buyer === '' ? 0 : (this.#changed.get(buyer) ?? this.#bought.get(buyer) ?? 0);
  }

  #told({ units, buyer, until }: Entry): Omit<Reply, 'is'> {
    return { units, buyer, until, now: this.#now };
  }

  #write(entry: Entry): Entry {
    this.#entries.set(entry.id, entry);
    this.written.set(entry.id, entry);
    return entry;
  }

  #change(change: Partial<Cell>): void {
    this.cell = { ...this.cell!, ...change };
  }
}
