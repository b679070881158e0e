import { type Cell, EMPTY, type Entry, type Reply, type Step } from './cell.ts';

/** All that a step may depend on, as it is before the step. */
export interface View {
  readonly cell: Cell | undefined;
  /** The requests that the steps name, and all reservations that have run out. */
  readonly entries: readonly Entry[];
  /** For each buyer that the steps name: how many units are reserved or sold. */
  readonly bought: ReadonlyMap<string, number>;
  /** For a `tally`: one portion of the requests, and where the next portion begins. */
  readonly portion?: { readonly entries: readonly Entry[]; readonly next: string | undefined };
}

/** A copy of one cell, which the steps change. The outcome is read from this copy. */
class CellDraft {
  cell: Cell | undefined;
  readonly now: number;
  readonly written = new Map<string, Entry>();
  readonly #entries: Map<string, Entry>;
  readonly #bought: Map<string, number>;

  /** Gives back the reservations that have run out by `now`. */
  constructor({ cell, entries, bought }: View, now: number) {
    this.cell = cell;
    this.now = now;
    this.#entries = new Map(entries.map((entry) => [entry.id, entry]));
    this.#bought = new Map(bought);
    // A removal deletes the cell before its requests, and nothing of these may come back.
    for (const entry of cell ? this.#entries.values() : []) {
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

  /** Remembers the token. @returns false if a newer one was seen. Compares digits as text: a double is exact only up to 2^53 */
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

export interface Outcome {
  readonly replies: readonly Reply[];
  readonly cell: Cell | undefined;
  /** Requests that are new or changed. */
  readonly written: readonly Entry[];
}

/**
 * The whole rule of stock, a pure function: does a list of steps on one cell, at one moment. Reservations that have run out come back
 * first. The memory and SQL stores apply this rule inside a transaction; Redis has the same rule in Lua (redis/lua/step.lua).
 */
export function decide(view: View, steps: readonly Step[], now: number): Outcome {
  const draft = new CellDraft(view, now);
  const replies = steps.map((step) => answer(draft, step, view.portion));
  return { replies, cell: draft.cell, written: [...draft.written.values()] };
}

function answer(draft: CellDraft, step: Step, portion: View['portion']): Reply {
  const { cell } = draft;
  if (step.op === 'open') return openCell(draft, step);
  if (!cell) return { is: 'missing' };
  if (step.op === 'look') return { is: 'done', cell };
  if (step.op === 'tally') return { is: 'done', cell, ...tallyPortion(draft, step, portion) };
  return (ANSWERS[step.op] as Answer<typeof step.op>)(draft, cell, step as never);
}

type Of<Op> = Step & { readonly op: Op };
type Answer<Op> = (draft: CellDraft, cell: Cell, step: Of<Op>) => Reply;

function openCell(draft: CellDraft, { epoch }: Of<'open'>): Reply {
  draft.cell ??= EMPTY;
  draft.change({ epoch: Math.max(draft.cell.epoch, epoch) });
  return { is: 'done' };
}

/** How each step changes a cell that exists. */
const ANSWERS: { readonly [Op in Exclude<Step['op'], 'open' | 'look' | 'tally'>]: Answer<Op> } = {
  put(draft, cell, { id, units, epoch }) {
    const known = draft.entry(id);
    if (known) return { is: known.units === units ? known.status : 'reused' };
    if (epoch !== cell.epoch) return { is: 'stale' };
    draft.write({ id, buyer: '', units, status: 'put', until: 0 });
    draft.change({ put: cell.put + units, free: cell.free + units, generation: cell.generation + 1 });
    return { is: 'done' };
  },
  take(draft, cell, { epoch, id, buyer, units, ttl, limit, already, token }) {
    if (epoch !== cell.epoch) return { is: 'stale' };
    if (!draft.fence(token)) return { is: 'fenced' };
    const known = draft.entry(id);
    if (known) {
      const same = known.units === units && known.buyer === buyer && (ttl > 0 || known.status !== 'reserved');
      return same ? draft.replyOf(known, known.status) : { is: 'reused' };
    }
    const bought = already + draft.boughtBy(buyer);
    if (limit > 0 && bought + units > limit) return { is: 'limit', bought };
    if (cell.free < units) return { is: 'empty' };
    const status = ttl > 0 ? 'reserved' : 'sold';
    const entry = draft.write({ id, buyer, units, status, until: ttl > 0 ? draft.now + ttl : 0 });
    draft.count(buyer, units);
    draft.change({ free: cell.free - units, [status]: cell[status] + units });
    return draft.replyOf(entry, 'done');
  },
  settle(draft, cell, { id, to, token }) {
    if (!draft.fence(token)) return { is: 'fenced' };
    const entry = draft.entry(id);
    if (!entry || entry.status === 'put') return { is: 'unknown' };
    if (entry.status !== 'reserved') return draft.replyOf(entry, entry.status);
    if (to === 'cancelled') return draft.replyOf(draft.giveBack(entry, 'cancelled'), 'done');
    draft.change({ reserved: cell.reserved - entry.units, sold: cell.sold + entry.units });
    return draft.replyOf(draft.write({ ...entry, status: 'sold', until: 0 }), 'done');
  },
  find(draft, _, { id, buyer }) {
    const entry = draft.entry(id);
    return { ...(entry ? draft.replyOf(entry, entry.status) : { is: 'unknown' }), bought: draft.boughtBy(buyer) };
  },
  send(draft, cell, { to, units: wanted }) {
    if (cell.moves[to]) return { is: 'busy', ...cell.moves[to] };
    const units = Math.min(wanted, cell.free);
    if (units <= 0) return { is: 'empty' };
    const seq = cell.seq + 1;
    const moves = { ...cell.moves, [to]: { seq, units } };
    const generation = cell.generation + 1;
    draft.change({ seq, moves, free: cell.free - units, out: cell.out + units, generation });
    return { is: 'done', seq, units };
  },
  receive(draft, cell, { from, seq, units }) {
    if (seq <= (cell.seen[from] ?? 0)) return { is: 'done' };
    const seen = { ...cell.seen, [from]: seq };
    draft.change({ seen, free: cell.free + units, in: cell.in + units, generation: cell.generation + 1 });
    return { is: 'done' };
  },
  clear(draft, cell, { to, seq }) {
    const { [to]: move, ...moves } = cell.moves;
    if (move?.seq === seq) draft.change({ moves });
    return { is: 'done' };
  },
};

function tallyPortion(
  { written }: CellDraft,
  { from }: Of<'tally'>,
  { entries, next }: NonNullable<View['portion']> = { entries: [], next: undefined },
): Pick<Reply, 'reserved' | 'sold' | 'next'> {
  const shown = new Map(entries.map((entry) => [entry.id, entry]));
  const whole = next === undefined && from === undefined;
  for (const [id, entry] of written) if (whole || shown.has(id)) shown.set(id, entry);
  const sum = (status: string) =>
    [...shown.values()].reduce((units, entry) => units + (entry.status === status ? entry.units : 0), 0);
  return { reserved: sum('reserved'), sold: sum('sold'), ...(next === undefined ? {} : { next }) };
}
