import { LockError } from '../core/contract/errors.ts';
import { errorOf, type StockError, type StockErrorCode } from './errors.ts';
import type { Reply } from './step.ts';

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

/** Why a cell refused. */
export function refusal({ is }: Reply, product: string): Error {
  if (is === 'fenced') {
    const message = `stock of ${JSON.stringify(product)} refuses the token: a newer holder of the segment's lock was seen. Stop`;
    return new LockError('LOCK_FENCED', message);
  }
  const [code, why] = REFUSALS[is] ?? ['STOCK_BUSY', `the engine said "${is}"`];
  return errorOf(code, product, `: ${why}`);
}

export function soldOut(product: string, left: number, units: number, final: boolean): StockError {
  const what = left === 0 ? ' is sold out' : ` has ${left} left, and ${units} were asked for`;
  const hope = final ? '' : '; reserved units may come back, or it may be restocked';
  return errorOf('STOCK_SOLD_OUT', product, `${what}${hope}`, final);
}
