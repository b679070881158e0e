import { RESERVE } from './cell.ts';
import { cleared } from './cleared.ts';
import { StockError, type StockErrorCode } from './errors.ts';
import type { Cells } from './look.ts';

import { Shared } from './shared.ts';
import type { Layout, StockStore } from './store.ts';

/** Passes of reading, finishing and writing before somebody else's changes are too many. */
const TRIES = 50;
const RESTLESS = 'is resized or closed by others again and again; try once more when they are done';

type Next = NonNullable<Layout['next']>;

/** The layout after its `next`. */
export function finished({ next, ...layout }: Layout): Layout {
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

/**
 * The layout of one product, as this process knows it. A change is written down first (`next`), then every cell gets the new
 * epoch, so that nobody sells by the old layout any more, and only then it holds. Whoever meets a change half done finishes it.
 */
export class LayoutOf {
  readonly #store: StockStore;
  readonly #product: string;
  readonly #cells: Cells;
  readonly #rereads = new Shared(() => this.read());
  #known: Layout | undefined;

  constructor(store: StockStore, product: string, cells: Cells) {
    this.#store = store;
    this.#product = product;
    this.#cells = cells;
  }

  /** As it was last read, if it was. */
  get known(): Layout | undefined {
    return this.#known;
  }

  /** As it is by now, read once for all who ask together. @throws StockError `STOCK_UNKNOWN` when the product is gone */
  reread(): Promise<Layout> {
    return this.#rereads.ask();
  }

  /** As it was last read. @throws StockError `STOCK_UNKNOWN`, `STOCK_INVALID` */
  async get(): Promise<Layout> {
    return this.#known ?? this.read();
  }

  async read(): Promise<Layout> {
    let begun: Layout | undefined;
    for (let tries = 0; tries < TRIES; tries++) {
      const layout = await this.#store.layout(this.#product);
      const why = this.#goneWith(layout);
      if (why || !layout) {
        if (begun) await cleared(this.#store, this.#product, begun); // made behind the back of whoever removed it
        throw this.#error('STOCK_UNKNOWN', why);
      }
      if (layout.servers !== this.#store.servers) {
        const why = `is spread over ${layout.servers} servers, and this store has ${this.#store.servers}: give the same, in the same order`;
        throw this.#error('STOCK_INVALID', why);
      }
      if (layout.next) begun = finished(layout);
      const done = await this.#finish(layout);
      if (done) {
        this.#known = done;
        return done;
      }
    }
    throw this.#error('STOCK_BUSY', RESTLESS);
  }

  /** @param change what is to come after this layout; undefined: nothing to do */
  async change(change: (layout: Layout) => Next | undefined): Promise<Layout> {
    for (let tries = 0; tries < TRIES; tries++) {
      const layout = await this.read();
      const next = change(layout);
      if (!next) return layout;
      await this.#store.relayout(this.#product, layout, { ...layout, version: layout.version + 1, next });
      const after = await this.read();
      if (!change(after)) return after;
    }
    throw this.#error('STOCK_BUSY', RESTLESS);
  }

  /** Why it is not the product that is meant here; '' where it is. */
  #goneWith(layout: Layout | undefined): string {
    if (layout?.removed) return 'is being removed: remove() it again if that broke off';
    if (layout && !this.#cells.bind(layout.identity)) return 'was removed, and made anew since: open() it again';
    return layout ? '' : `is not on ${this.#store.name}: create() it first`;
  }

  /** Undefined when somebody else wrote in the meantime. */
  async #finish(layout: Layout): Promise<Layout | undefined> {
    const { next } = layout;
    if (!next) return layout;
    const done = finished(layout);
    const { epoch } = done;
    await Promise.all(
      Array.from({ length: done.cells + 1 }, (_, i) => {
        const units = next.put[i + RESERVE] ?? 0;
        const put = { op: 'put', epoch, id: 'p:', units } as const;
        return this.#cells.step(i + RESERVE, { op: 'open', epoch }, ...(units > 0 ? [put] : []));
      }),
    );
    return (await this.#store.relayout(this.#product, layout, done)) ? done : undefined;
  }

  #error(code: StockErrorCode, why: string): StockError {
    const product = decodeURIComponent(this.#product);
    return new StockError(code, `${JSON.stringify(product)} ${why}`, { product });
  }
}
