import { addressOf } from './address.ts';
import { type Cell, type Move, RESERVE } from './cell.ts';
import { StockError } from './errors.ts';
import type { Levels } from './order.ts';
import type { Reply, Step } from './step.ts';
import type { StockStore } from './store.ts';

/** All cells of a product, read one after the other. */
export type Look = ReadonlyMap<number, Cell>;

/** A move that has left one cell and is not known to have reached the other. */
export interface Transit extends Move {
  readonly from: number;
  readonly to: number;
}

export function transits(look: Look): Transit[] {
  return [...look].flatMap(([from, { moves }]) =>
    Object.entries(moves)
      .map(([to, move]) => ({ ...move, from, to: Number(to) }))
      .filter(({ to, seq }) => seq > (look.get(to)?.seen[from] ?? 0)),
  );
}

export const total = (look: Look, what: 'free' | 'reserved' | 'sold' | 'put'): number =>
  [...look.values()].reduce((sum, cell) => sum + cell[what], 0);

export const levelsOf = (look: Look): Levels => ({
  reserve: look.get(RESERVE)!.free,
  segments: [...look].filter(([i]) => i !== RESERVE).map(([, { free }]) => free),
  reserved: total(look, 'reserved'),
  sold: total(look, 'sold'),
});

/** Whether no unit moved or came back between two looks: then the first shows how all cells were at one moment between them. */
export const unmoved = (first: Look, second: Look): boolean =>
  first.size === second.size && [...first].every(([i, { generation }]) => second.get(i)?.generation === generation);

/** Where units for `home` should come from: itself, the reserve, or whoever has most. Undefined when nothing is anywhere. */
export function sourceFor(look: Look, home: number, units: number): number | undefined {
  if ((look.get(home)?.free ?? 0) >= units) return home;
  if ((look.get(RESERVE)?.free ?? 0) > 0) return RESERVE;
  const [richest] = [...look].filter(([i, { free }]) => i !== home && free > 0).sort(([, a], [, b]) => b.free - a.free);
  return richest?.[0];
}

/** The cells of one product, as they are spoken to: of one among all that ever had its name. */
export class Cells {
  readonly #store: StockStore;
  readonly #product: string;
  #address: string | undefined;
  #running: Promise<unknown> = Promise.resolve();
  #next: { readonly count: number; readonly look: Promise<Look> } | undefined;

  constructor(store: StockStore, product: string) {
    this.#store = store;
    this.#product = product;
  }

  /** Says which product of the name is meant, before anything else. False where another one is meant already. */
  bind(identity: string): boolean {
    const address = addressOf(this.#product, identity);
    this.#address ??= address;
    return this.#address === address;
  }

  /** @throws StockError `STOCK_UNKNOWN` when the cell is gone: the engine lost its data, or the product was removed */
  async step(cell: number, ...steps: Step[]): Promise<readonly Reply[]> {
    const replies = await this.#store.step(this.#address!, cell, steps);
    if (replies.some(({ is }) => is === 'missing')) {
      const product = decodeURIComponent(this.#product);
      const what = cell === RESERVE ? 'the reserve' : `segment ${cell}`;
      const message = `${what} of ${JSON.stringify(product)} is not there: it was removed, or the engine lost its data`;
      throw new StockError('STOCK_UNKNOWN', message, { product });
    }
    return replies;
  }

  /**
   * Reads all cells. Whoever comes while a look is under way shares the next one, with all others who come until then: so it
   * begins after each of them came, and a crowd costs no more than one buyer. Not with who knows of fewer cells.
   */
  look(count: number): Promise<Look> {
    if (this.#next?.count === count) return this.#next.look;
    const look = this.#running.then(() => {
      if (this.#next?.look === look) this.#next = undefined;
      return this.#look(count);
    });
    this.#next = { count, look };
    this.#running = look.catch(() => {});
    return look;
  }

  async #look(count: number): Promise<Look> {
    const indices = Array.from({ length: count + 1 }, (_, i) => i + RESERVE);
    const cells = await Promise.all(
      indices.map(async (i) => [i, (await this.step(i, { op: 'look' }))[0]!.cell!] as const),
    );
    return new Map(cells);
  }

  /** The second and third step of a move; safe to repeat by anyone, at any time. Gives what `also` replied at the target. */
  async finish({ from, to, seq, units }: Transit, ...also: Step[]): Promise<readonly Reply[]> {
    const [, ...replies] = await this.step(to, { op: 'receive', from, seq, units }, ...also);
    // It has arrived; an entry that stays in the journal is cleared by the next move between the two.
    await this.step(from, { op: 'clear', to, seq }).catch(() => {});
    return replies;
  }

  /** One move, after finishing the one that may be under way between the two. Gives what `also` replied, if anything moved. */
  async move(from: number, to: number, units: number, ...also: Step[]): Promise<readonly Reply[]> {
    const [sent] = await this.step(from, { op: 'send', to, units });
    if (sent?.seq === undefined) return [];
    return this.finish({ from, to, seq: sent.seq, units: sent.units! }, ...also);
  }
}
