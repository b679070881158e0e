import type { Reply, Step } from './step.ts';

/** How a product is laid out; kept with it. Segment counts only ever follow one another through `next` (layout.ts). */
export interface Layout {
  /** Random, made with the product: another one of the same name has another. '' of those that the first version made. */
  readonly identity: string;
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
  /** Its removal was begun: nobody sells it any more. */
  readonly removed?: true;
  /** A change that was begun: whoever comes across it finishes it. */
  readonly next?: { readonly size: number; readonly closed: boolean; readonly put: Readonly<Record<string, number>> };
}

/** Which layout is meant: it changes with every version, and with every product of the name. */
export type LayoutVersion = Pick<Layout, 'identity' | 'version'>;

/**
 * What stock asks of an engine. Names come encoded: ASCII without blanks, braces or control characters. `address` is that of one
 * product among all that ever had its name (address.ts). No call works for long, however much a product keeps.
 * Any throw means that the outcome is unknown, unless it is a LockError.
 */
export interface StockStore {
  /** For messages: which engine it is. */
  readonly name: string;
  /** How many engines the cells are spread over. */
  readonly servers: number;
  /** Undefined when there is no such product. */
  layout(product: string): Promise<Layout | undefined>;
  /** Writes it (undefined: forgets it) where it is still `was`; undefined: where there is none. Else false, and nothing changed. */
  relayout(product: string, was: LayoutVersion | undefined, layout: Layout | undefined): Promise<boolean>;
  /**
   * One atomic step on one cell: all of `steps` in order, after giving back what has run out (`decide` in rule.ts). Takes
   * alone, which are orders of several buyers, may be several steps one after the other.
   */
  step(address: string, cell: number, steps: readonly Step[]): Promise<readonly Reply[]>;
  /** Forgets a cell at once, and at least some of its requests. True when nothing is left of them. */
  clear(address: string, cell: number): Promise<boolean>;
}
