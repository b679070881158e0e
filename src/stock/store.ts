import type { Reply, Step } from './step.ts';

/** How a product is laid out. It is kept with the product. The number of segments changes only through `next` (layout.ts). */
export interface Layout {
  /** Random: another product of the same name has another one. '' for products that the first version made. */
  readonly identity: string;
  /** Every change of the layout raises it. */
  readonly version: number;
  /** How many engines have it. With another number, its cells would be looked for in the wrong place. */
  readonly servers: number;
  /** The epoch that cells must have for takes and restocks. */
  readonly epoch: number;
  /** All numbers of segments that it had, each once, the current one last. Empty while it is being made. */
  readonly sizes: readonly number[];
  /** The most segments that it ever had. Their cells stay, and are always looked at. */
  readonly cells: number;
  readonly limit: number;
  /** Nothing can be put in any more. */
  readonly closed: boolean;
  /** Its removal has begun: nobody sells it any more. */
  readonly removed?: true;
  /** A change that has begun: whoever finds it finishes it. */
  readonly next?: { readonly size: number; readonly closed: boolean; readonly put: Readonly<Record<string, number>> };
}

/** Names one layout: a product has several, and there may be several products of one name. */
export type LayoutVersion = Pick<Layout, 'identity' | 'version'>;

/**
 * What stock asks of an engine. Names come encoded: ASCII without blanks, braces or control characters. An `address` belongs to one
 * product of all that ever had its name (address.ts). No call takes long, however much a product keeps. A LockError is a definite
 * refusal; after any other error the outcome is unknown.
 */
export interface StockStore {
  /** For messages: which engine it is. */
  readonly name: string;
  /** How many engines the cells are spread over. */
  readonly servers: number;
  /** Undefined when there is no such product. */
  layout(product: string): Promise<Layout | undefined>;
  /** Writes `layout` (undefined: removes it) if the layout is still `was` (undefined: if there is none). @returns false if it is not */
  relayout(product: string, was: LayoutVersion | undefined, layout: Layout | undefined): Promise<boolean>;
  /**
   * One atomic step on one cell: gives back what has run out, then takes all of `steps` in order (`decide` in rule.ts). Where they
   * are only takes, the orders of several buyers, they may be several atomic steps.
   */
  step(address: string, cell: number, steps: readonly Step[]): Promise<readonly Reply[]>;
  /** Forgets a cell, and at least some of its requests. @returns true when no request is left */
  clear(address: string, cell: number): Promise<boolean>;
}
