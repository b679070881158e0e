import { Shared } from './batching.ts';
import { RESERVE } from './cell.ts';
import type { Cells } from './cells.ts';
import { errorOf } from './errors.ts';
import type { Layout } from './store.ts';

/** How often to read, finish and write again because others have changed the layout. */
const MAX_ATTEMPTS = 50;
const RESTLESS = ': others resize or close it again and again; try once more when they are done';

type Next = NonNullable<Layout['next']>;

/** The layout after the change `next`. */
export function afterNext({ next, ...layout }: Layout): Layout {
  if (!next) return layout;
  return {
    ...layout,
    version: layout.version + 1,
    epoch: layout.epoch + 1,
    sizes: [...layout.sizes.filter((size) => size !== next.size), next.size],
    cells: Math.max(layout.cells, next.size),
    closed: next.closed,
  };
}

/** Mixes 32 bits: the finalizer of MurmurHash3, Austin Appleby, 2011. */
function mix(bits: number): number {
  let mix = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  mix = Math.imul(mix ^ (mix >>> 13), 0xc2b2ae35);
  return (mix ^ (mix >>> 16)) >>> 0;
}

/** A hash of 32 bits, the same in every process and on every machine: FNV-1a, by Fowler, Noll and Vo. The text is ASCII. */
function digest(text: string): number {
  let bits = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) bits = Math.imul(bits ^ text.charCodeAt(i), 0x01000193);
  return bits;
}

/** What is added to the seed for each number: 2³² divided by the golden ratio, as in SplitMix. */
const STEP = 0x9e3779b9;

/**
 * A number below `size` for a name. Names are spread evenly; when `size` grows by one, only one name in `size` moves.
 * Jump consistent hash: Lamping and Veach, "A Fast, Minimal Memory, Consistent Hash Algorithm", 2014. Every sale calls this function,
 * so it uses fast arithmetic of 32 bits.
 */
export function homeOf(name: string, size: number): number {
  let seed = digest(name);
  let home = 0;
  for (let next = 0; next < size; ) {
    home = next;
    seed = (seed + STEP) | 0;
    next = Math.floor(((home + 1) * 2 ** 32) / (mix(seed) + 1));
  }
  return home;
}

/** The segments of a name under earlier numbers of segments. They still have the buyer's earlier requests. */
export function formerHomes(name: string, sizes: readonly number[]): number[] {
  const homes = new Set(sizes.map((size) => homeOf(name, size)));
  homes.delete(homeOf(name, sizes.at(-1)!));
  return [...homes];
}

/** Spreads `units` over `size` segments as evenly as whole units allow. @param reserve the share to keep back, 0 to 1 */
export function spread(units: number, size: number, reserve: number): { reserve: number; segments: number[] } {
  const kept = Math.floor(units * reserve);
  const each = Math.floor((units - kept) / size);
  const more = (units - kept) % size;
  return { reserve: kept, segments: Array.from({ length: size }, (_, i) => each + (i < more ? 1 : 0)) };
}

/**
 * The layout of one product, as this process knows it. First a change is stored as `next`. Then every cell gets the new epoch, so that
 * no process sells by the old layout any more. Only then the new layout is stored. A process that reads an unfinished change finishes it.
 */
export class LayoutCache {
  readonly #cells: Cells;
  readonly #rereads = new Shared(() => this.read());
  #known: Layout | undefined;

  constructor(cells: Cells) {
    this.#cells = cells;
  }

  /** The layout that was read last; undefined before the first read. */
  get known(): Layout | undefined {
    return this.#known;
  }

  /** Reads the layout, once for all callers that ask together. @throws StockError `STOCK_UNKNOWN` if the product is gone */
  reread(): Promise<Layout> {
    return this.#rereads.ask();
  }

  /** The last layout, read if there is none. @throws StockError `STOCK_UNKNOWN`, `STOCK_INVALID` */
  async get(): Promise<Layout> {
    return this.#known ?? this.read();
  }

  async read(): Promise<Layout> {
    const { store, product, name } = this.#cells;
    let begun: Layout | undefined;
    for (let attempts = 0; attempts < MAX_ATTEMPTS; attempts++) {
      const layout = await store.layout(product);
      const why = this.#whyGone(layout);
      if (why || !layout) {
        if (begun) await this.#cells.clear(begun.cells); // this call may have made cells again after a removal cleared them
        throw errorOf('STOCK_UNKNOWN', name, why);
      }
      if (layout.servers !== store.servers) {
        const why = ` is spread over ${layout.servers} servers, and this store has ${store.servers}: give the same, in the same order`;
        throw errorOf('STOCK_INVALID', name, why);
      }
      if (layout.next) begun = afterNext(layout);
      const done = await this.#finish(layout);
      if (done) {
        this.#known = done;
        return done;
      }
    }
    throw errorOf('STOCK_BUSY', this.#cells.name, RESTLESS);
  }

  /** @param change gives the `next` for a layout; undefined: nothing is to be changed */
  async #change(change: (layout: Layout) => Next | undefined): Promise<void> {
    for (let attempts = 0; attempts < MAX_ATTEMPTS; attempts++) {
      const layout = await this.read();
      const next = change(layout);
      if (!next) return;
      await this.#cells.store.relayout(this.#cells.product, layout, { ...layout, version: layout.version + 1, next });
      if (!change(await this.read())) return;
    }
    throw errorOf('STOCK_BUSY', this.#cells.name, RESTLESS);
  }

  /** Closes restocking. */
  async close(): Promise<void> {
    await this.#change(({ sizes, closed }) => (closed ? undefined : { size: sizes.at(-1)!, closed: true, put: {} }));
  }

  async resize(size: number): Promise<void> {
    await this.#change(({ sizes, closed }) => (sizes.at(-1) === size ? undefined : { size, closed, put: {} }));
  }

  /** Why this is not the layout of the product that was opened; '' if it is. */
  #whyGone(layout: Layout | undefined): string {
    if (layout?.removed) return ' is being removed: remove() it again if that broke off';
    if (layout && !this.#cells.bind(layout.identity)) return ' was removed, and made again since: open() it again';
    return layout ? '' : ` is not on ${this.#cells.store.name}: create() it first`;
  }

  /** @returns undefined if another process has written the layout meanwhile */
  async #finish(layout: Layout): Promise<Layout | undefined> {
    const { next } = layout;
    if (!next) return layout;
    const done = afterNext(layout);
    const { epoch } = done;
    await Promise.all(
      Array.from({ length: done.cells + 1 }, (_, i) => {
        const units = next.put[i + RESERVE] ?? 0;
        const put = { op: 'put', epoch, id: 'p:', units } as const;
        return this.#cells.step(i + RESERVE, [{ op: 'open', epoch }, ...(units > 0 ? [put] : [])]);
      }),
    );
    return (await this.#cells.store.relayout(this.#cells.product, layout, done)) ? done : undefined;
  }
}
