import { LockError } from '../../src/core/index.ts';
import type { Reply } from './cell.ts';

/** Why a `StockError` was thrown: stable, for programs to compare. */
export type StockErrorCode =
  /** There is no such product, or no such request in it. */
  | 'STOCK_UNKNOWN'
  /** There is a product of that name. */
  | 'STOCK_EXISTS'
  /** Too few units are left; `final`: this cannot change any more. */
  | 'STOCK_SOLD_OUT'
  /** The buyer would have more than the product's limit. */
  | 'STOCK_LIMIT'
  /** The request id was used for something else. */
  | 'STOCK_REQUEST_REUSED'
  /** The reservation ran out; its units went back. */
  | 'STOCK_EXPIRED'
  /** The reservation was cancelled; its units went back. */
  | 'STOCK_CANCELLED'
  /** The reservation is sold, and cannot be cancelled. */
  | 'STOCK_CONFIRMED'
  /** Restocking was closed. */
  | 'STOCK_CLOSED'
  /** Units kept moving; nothing was taken. */
  | 'STOCK_BUSY'
  /** A bad name, number or option. */
  | 'STOCK_INVALID';

/** All copies of the package share it, but `instanceof` knows only its own copy. */
const BRAND = Symbol.for('holdfast.StockError');

/**
 * A refusal: nothing was changed. After any other error (of the engine, or a LockError) that is unknown: repeat the call with the same
 * request id.
 * @example
 * await phones.take({ units: 3 }).catch((error) => {
 *   if (error instanceof StockError && error.code === 'STOCK_SOLD_OUT') return 'sold out';
 *   throw error;
 * });
 */
export class StockError extends Error {
  /** The name of every error of this class. */
  override readonly name = 'StockError';
  /** Why, for programs to compare. */
  readonly code: StockErrorCode;
  // Only declared, so that a field that does not apply is missing, and not printed as undefined.
  /** The product, if the error is about one. */
  declare readonly product?: string;
  /** With `STOCK_SOLD_OUT`: whether nothing is reserved and restocking is closed, so it stays sold out. */
  declare readonly final?: boolean;

  constructor(
    code: StockErrorCode,
    message: string,
    { product, final }: { readonly product?: string; readonly final?: boolean } = {},
  ) {
    super(message);
    this.code = code;
    if (product !== undefined) this.product = product;
    if (final !== undefined) this.final = final;
  }

  get [BRAND](): true {
    return true;
  }
}

/**
 * Whether `error` is a `StockError`, of `code` if given, from any copy of the package.
 * @example
 * await phones.take().catch((error) => {
 *   if (!isStockError(error, 'STOCK_SOLD_OUT')) throw error;
 *   console.log(error.final ? 'sold out' : 'nothing left now');
 * });
 */
export function isStockError(error: unknown, code?: StockErrorCode): error is StockError {
  return (
    typeof error === 'object' &&
    error !== null &&
    (error as { [BRAND]?: unknown })[BRAND] === true &&
    (code === undefined || (error as StockError).code === code)
  );
}

/** @param rest the message after the name of the product */
export const errorOf = (code: StockErrorCode, product: string, rest: string, final?: boolean): StockError =>
  new StockError(code, `${JSON.stringify(product)}${rest}`, { product, final });

const REFUSALS: Readonly<Partial<Record<Reply['is'], readonly [StockErrorCode, string]>>> = {
  limit: ['STOCK_LIMIT', 'the buyer would have more units than the limit of the product'],
  reused: ['STOCK_REQUEST_REUSED', 'the request id was used for another order; an id belongs to one order'],
  expired: ['STOCK_EXPIRED', 'the reservation ran out and its units went back; make a new request'],
  cancelled: ['STOCK_CANCELLED', 'the request was cancelled and its units went back; make a new request'],
  sold: ['STOCK_CONFIRMED', 'the units are sold; to take them back, restock them'],
  unknown: ['STOCK_UNKNOWN', 'no such request was made'],
  stale: ['STOCK_BUSY', 'the layout keeps changing; nothing was taken'],
  busy: ['STOCK_BUSY', 'units keep moving; nothing was taken'],
};

/** The error for a refusal of a cell. */
export function refusal({ is }: Reply, product: string): Error {
  if (is === 'fenced') {
    const message = `stock of ${JSON.stringify(product)} refuses the token: a newer holder of the segment's lock was seen. Stop`;
    return new LockError('LOCK_FENCED', message);
  }
  const [code, why] = REFUSALS[is] ?? ['STOCK_BUSY', `the engine said "${is}"`];
  return errorOf(code, product, `: ${why}`);
}

export function soldOutError(product: string, left: number, units: number, final: boolean): StockError {
  const what = left === 0 ? ' is sold out' : ` has ${left} left, and ${units} were asked for`;
  const hope = final ? '' : '; reserved units may come back, or it may be restocked';
  return errorOf('STOCK_SOLD_OUT', product, `${what}${hope}`, final);
}
