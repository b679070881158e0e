import { CallTimeouts, LockError, promiseOf, systemClock } from '../../src/core/index.ts';
import type { Cell, Reply, Step } from './cell.ts';
import { StockError } from './errors.ts';

/** The largest length of an address: an encoded name of 128 bytes. */
const MAX_ADDRESS_LENGTH = 384;

/**
 * The name under which the engine keeps a product's cells: the encoded name, an `@` (which no encoded name has), and the identity. So
 * two products of the same name share nothing. A name that would be too long is cut; the identity is enough to tell products apart.
 */
export const addressOf = (product: string, identity: string): string =>
  `${product.slice(0, MAX_ADDRESS_LENGTH - 1 - identity.length)}@${identity}`;

/** The product's name, for messages. */
export function productName(address: string): string {
  const [name = ''] = address.split('@');
  try {
    return decodeURIComponent(name);
  } catch {
    return name; // cut within a character
  }
}

/** The layout of a product. The engine keeps it. The number of segments changes only through `next` (layout.ts). */
export interface Layout {
  /** Random: another product of the same name has another one. */
  readonly identity: string;
  /** Every change of the layout raises it. */
  readonly version: number;
  /** How many servers have the product's cells. With another number, cells would be looked for on the wrong server. */
  readonly servers: number;
  /** The epoch that cells must have for takes and restocks. */
  readonly epoch: number;
  /** All numbers of segments that the product had, each once, the current one last. Empty while the product is being made. */
  readonly sizes: readonly number[];
  /** The most segments that the product ever had. Their cells stay, and every look reads them. */
  readonly cells: number;
  readonly limit: number;
  /** Restocking is closed. */
  readonly closed: boolean;
  /** The removal of the product has begun: no process sells it any more. */
  readonly removed?: true;
  /** A change that has begun. A process that reads an unfinished change finishes it. */
  readonly next?: { readonly size: number; readonly closed: boolean; readonly put: Readonly<Record<string, number>> };
}

/** Names one layout: a product has one after the other, and several products may have had the same name. */
export type LayoutVersion = Pick<Layout, 'identity' | 'version'>;

/**
 * What stock asks of an engine. Names come encoded: ASCII without blanks, braces or control characters. An `address` names one
 * product, even if others had the same name. No call takes long, however much a product keeps. A LockError of the
 * store itself is a definite refusal. After any other error, and after the limit of `withTimeout`, the outcome is unknown.
 */
export interface StockStore {
  /** The name of the engine, for messages. */
  readonly name: string;
  /** Over how many servers the cells are spread. */
  readonly servers: number;
  /** Undefined if there is no such product. */
  layout(product: string): Promise<Layout | undefined>;
  /** Writes `layout` (undefined: removes it) if the stored layout is still `was` (undefined: none is stored). @returns whether it did */
  relayout(product: string, was: LayoutVersion | undefined, layout: Layout | undefined): Promise<boolean>;
  /**
   * One atomic step on one cell: gives back the reservations that have run out, then does all `steps` in order (`decide` in rule.ts).
   * If all of them are takes, the store may split them into several atomic steps.
   */
  step(address: string, cell: number, steps: readonly Step[]): Promise<readonly Reply[]>;
  /** Forgets a cell, and at least some of its requests. @returns true if no request is left */
  clear(address: string, cell: number): Promise<boolean>;
}

/** The store with a time limit for every call: without an answer for `within` ms, the outcome is unknown. */
export function withTimeout(store: StockStore, within: number): StockStore {
  const timeouts = new CallTimeouts(systemClock);
  const { name, servers } = store;
  const limited = <T>(what: string, product: string, call: () => Promise<T>): Promise<T> =>
    timeouts.bound(promiseOf(call), within, () => {
      const message = `${name} did not answer within ${within} ms, asked to ${what} ${JSON.stringify(productName(product))}; it may have been done. Ask again, a sale with the same buyer and request`;
      return new LockError('LOCK_UNAVAILABLE', message, { backend: name });
    });
  return {
    name,
    servers,
    layout: (product) => limited('read the layout of', product, () => store.layout(product)),
    relayout: (product, was, layout) =>
      limited('change the layout of', product, () => store.relayout(product, was, layout)),
    step: (address, cell, steps) => limited('change the stock of', address, () => store.step(address, cell, steps)),
    clear: (address, cell) => limited('remove', address, () => store.clear(address, cell)),
  };
}

/** The format of a stored layout, and in SQL of a cell. */
const FORMAT = 1;

/** A layout or a cell as engines keep it. */
export const formatKept = (kept: Layout | Cell | undefined): string => JSON.stringify({ v: FORMAT, ...kept });

/** @throws StockError `STOCK_INVALID` if a newer version wrote the text */
export function parseKept<T = Layout>(text: string): T {
  const { v, ...kept } = JSON.parse(text);
  if (v === FORMAT) return kept;
  const message = `a product is kept in format ${v}, which this version of holdfast does not know`;
  throw new StockError('STOCK_INVALID', message);
}
