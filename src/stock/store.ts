import type { Reply, Step } from './step.ts';

/** How a product is laid out; kept with it. Segment counts only ever follow one another through `next` (layout.ts). */
export interface Layout {
  /** Raised by every change of the layout. */
  readonly version: number;
  /** How many engines hold it: with another number its cells would be looked for in the wrong place. */
  readonly servers: number;
  /** The epoch that cells have to show for takes and restocks. */
  readonly epoch: number;
  /** Segment counts it had, each once, the current one last. Empty while it is being made. */
  readonly sizes: readonly number[];
  /** Cells that ever were: the most segments it had. A cell that was is looked at for ever. */
  readonly cells: number;
  readonly limit: number;
  /** Nothing is put in any more. */
  readonly closed: boolean;
  /** A change that was begun: whoever comes across it finishes it. */
  readonly next?: { readonly size: number; readonly closed: boolean; readonly put: Readonly<Record<string, number>> };
}

/**
 * What stock asks of an engine. Names come encoded: ASCII without blanks, braces or control characters.
 * Any throw means that the outcome is unknown, unless it is a LockError.
 */
export interface StockStore {
  readonly name: string;
  readonly servers: number;
  layout(product: string): Promise<Layout | undefined>;
  /** Writes it where the version is still `was` (0: where there is none). False, and nothing changed, where it is not. */
  relayout(product: string, was: number, layout: Layout): Promise<boolean>;
  /**
   * One atomic step on one cell: all of `steps` in order, after giving back what has run out (`decide` in rule.ts). Takes
   * alone, which are orders of several buyers, may be several steps one after the other.
   */
  step(product: string, cell: number, steps: readonly Step[]): Promise<readonly Reply[]>;
  /** Forgets the product with its cells and requests. */
  remove(product: string, cells: readonly number[]): Promise<void>;
}
