import { Books, type View } from './books.ts';
import { type Cell, EMPTY, type Entry } from './cell.ts';
import type { Reply, Step } from './step.ts';

export interface Outcome {
  readonly replies: readonly Reply[];
  readonly cell: Cell | undefined;
  /** Requests that are new or changed. */
  readonly written: readonly Entry[];
}

/**
 * The whole rule of stock: what a list of steps makes of one cell, at one moment. Reservations that have run out come back first.
 * It is pure. The memory and SQL stores apply it inside a transaction; Redis has the same rule in Lua (redis/lua/step.lua).
 */
export function decide(view: View, steps: readonly Step[], now: number): Outcome {
  const books = new Books(view, now);
  const replies = steps.map((step) => answer(books, step, view.portion));
  return { replies, cell: books.cell, written: [...books.written.values()] };
}

function answer(books: Books, step: Step, portion: View['portion']): Reply {
  const { cell } = books;
  if (step.op === 'open') return opened(books, step);
  if (!cell) return { is: 'missing' };
  if (step.op === 'look') return { is: 'done', cell };
  if (step.op === 'tally') return { is: 'done', cell, ...tallied(books, step, portion) };
  return (ANSWERS[step.op] as Answer<typeof step.op>)(books, cell, step as never);
}

type Of<Op> = Step & { readonly op: Op };
type Answer<Op> = (books: Books, cell: Cell, step: Of<Op>) => Reply;

function opened(books: Books, { epoch }: Of<'open'>): Reply {
  books.cell ??= EMPTY;
  books.change({ epoch: Math.max(books.cell.epoch, epoch) });
  return { is: 'done' };
}

/** What each step makes of a cell that exists. */
const ANSWERS: { readonly [Op in Exclude<Step['op'], 'open' | 'look' | 'tally'>]: Answer<Op> } = {
  put(books, cell, { id, units, epoch }) {
    const known = books.entry(id);
    if (known) return { is: known.units === units ? known.status : 'reused' };
    if (epoch !== cell.epoch) return { is: 'stale' };
    books.write({ id, buyer: '', units, status: 'put', until: 0 });
    books.change({ put: cell.put + units, free: cell.free + units, generation: cell.generation + 1 });
    return { is: 'done' };
  },
  take(books, cell, { epoch, id, buyer, units, ttl, limit, already, token }) {
    if (epoch !== cell.epoch) return { is: 'stale' };
    if (!books.fence(token)) return { is: 'fenced' };
    const known = books.entry(id);
    if (known) {
      const same = known.units === units && known.buyer === buyer && (ttl > 0 || known.status !== 'reserved');
      return same ? books.told(known, known.status) : { is: 'reused' };
    }
    const bought = already + books.boughtBy(buyer);
    if (limit > 0 && bought + units > limit) return { is: 'limit', bought };
    if (cell.free < units) return { is: 'empty' };
    const status = ttl > 0 ? 'reserved' : 'sold';
    const entry = books.write({ id, buyer, units, status, until: ttl > 0 ? books.now + ttl : 0 });
    books.count(buyer, units);
    books.change({ free: cell.free - units, [status]: cell[status] + units });
    return books.told(entry, 'done');
  },
  settle(books, cell, { id, to, token }) {
    if (!books.fence(token)) return { is: 'fenced' };
    const entry = books.entry(id);
    if (!entry || entry.status === 'put') return { is: 'unknown' };
    if (entry.status !== 'reserved') return books.told(entry, entry.status);
    if (to === 'cancelled') return books.told(books.giveBack(entry, 'cancelled'), 'done');
    books.change({ reserved: cell.reserved - entry.units, sold: cell.sold + entry.units });
    return books.told(books.write({ ...entry, status: 'sold', until: 0 }), 'done');
  },
  find(books, _, { id, buyer }) {
    const entry = books.entry(id);
    return { ...(entry ? books.told(entry, entry.status) : { is: 'unknown' }), bought: books.boughtBy(buyer) };
  },
  send(books, cell, { to, units: wanted }) {
    if (cell.moves[to]) return { is: 'busy', ...cell.moves[to] };
    const units = Math.min(wanted, cell.free);
    if (units <= 0) return { is: 'empty' };
    const seq = cell.seq + 1;
    const moves = { ...cell.moves, [to]: { seq, units } };
    const generation = cell.generation + 1;
    books.change({ seq, moves, free: cell.free - units, out: cell.out + units, generation });
    return { is: 'done', seq, units };
  },
  receive(books, cell, { from, seq, units }) {
    if (seq <= (cell.seen[from] ?? 0)) return { is: 'done' };
    const seen = { ...cell.seen, [from]: seq };
    books.change({ seen, free: cell.free + units, in: cell.in + units, generation: cell.generation + 1 });
    return { is: 'done' };
  },
  clear(books, cell, { to, seq }) {
    const { [to]: move, ...moves } = cell.moves;
    if (move?.seq === seq) books.change({ moves });
    return { is: 'done' };
  },
};

function tallied(
  { written }: Books,
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
