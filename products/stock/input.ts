import {
  type Duration,
  isLockError,
  MAX_DURATION_MS,
  milliseconds,
  shown,
  systemClock,
  whole,
} from '../../src/core/index.ts';
import { StockError } from './errors.ts';

/** What one buyer wants. */
export interface Order {
  /** How many units: all or none. Default 1. */
  readonly units?: number;
  /** The name of the buyer. It decides the segment, and the limit is for each buyer. */
  readonly buyer?: string;
  /** The id of the order. If a buyer sends several orders with the same id, only the first counts. Default: a new id, so the order is never a repeat. */
  readonly request?: string;
}

/** An order that holds units back for a while. */
export interface ReserveOrder extends Order {
  /** After this time the reservation expires, and the units come back. Default 10 minutes, by the engine's clock. */
  readonly ttl?: Duration;
}

/** An order that is sold under the lock of its segment. */
export interface SellOrder extends ReserveOrder {
  /** How long to wait for the segment's lock; default: that of the locks, 30 s. */
  readonly wait?: Duration;
  /** Ends the wait. */
  readonly signal?: AbortSignal;
}

/**
 * Units that are reserved or sold.
 * @example
 * const kept = await phones.reserve({ buyer: 'li', ttl: '10m' });
 * const paid = await pay(kept.units);
 * await (paid ? phones.confirm(kept.ref) : phones.cancel(kept.ref));
 */
export interface Reserved {
  /** Names the reservation and its segment, for `confirm` and `cancel` in any process. */
  readonly ref: string;
  /** How many units. */
  readonly units: number;
  /** The number of the segment, from 0. */
  readonly segment: number;
  /** ms until the reservation expires, counted from the answer; 0 if the units are sold. */
  readonly remaining: number;
  /** The request was done before, so this call changed nothing. */
  readonly repeated: boolean;
}

/** What the business logic gets, under the lock of a segment. */
export interface Sale extends Reserved {
  /** The fencing token of the segment. Store it with your data, and refuse writes with older tokens there. */
  readonly token: bigint;
  /** Aborted when the lock is lost: then stop. */
  readonly signal: AbortSignal;
}

/** Units that were sold. */
export interface Sold<T> extends Reserved {
  /** What the business logic returned; undefined if the sale was done before. */
  readonly result?: T;
}

/** How many units there are, and where. */
export interface Levels {
  /** Free units that are kept back, to be moved into segments that need them. */
  readonly reserve: number;
  /** Free units of each segment. */
  readonly segments: readonly number[];
  /** Units that are reserved for buyers. */
  readonly reserved: number;
  /** Units that are sold. */
  readonly sold: number;
}

/** An order that was checked, with its names encoded. */
export interface CheckedOrder {
  readonly units: number;
  readonly buyer: string;
  readonly id: string;
  /** The request may have been made before. */
  readonly repeats: boolean;
  /** The name that decides which segment serves the order; undefined: the segments take turns. */
  readonly routed: string | undefined;
  readonly ttl: number;
  /** When the order was made, ms of the machine's clock. */
  readonly came: number;
}

/** @internal */
export const ORDER: readonly string[] = ['units', 'buyer', 'request'];

/** How long the units are reserved, ms. A `ttl` of null is refused, and does not mean the default. */
export const ttlOf = ({ ttl = '10m' }: ReserveOrder): number => checkDuration(ttl, 'ttl');

/** Checks an order and encodes its names. @param ttl ms; 0: sold at once */
export function checkedOrder({ units = 1, buyer, request }: Order, ttl: number): CheckedOrder {
  const name = buyer === undefined ? '' : checkName(buyer, 'buyer');
  const id = request === undefined ? undefined : checkName(request, 'request');
  return {
    units: checkCount(units, 'units', 1, MAX_UNITS),
    buyer: name,
    id: `r:${id === undefined ? systemClock.id() : buyer === undefined ? id : `${name}:${id}`}`,
    repeats: request !== undefined,
    routed: name || id,
    ttl,
    came: systemClock.now(),
  };
}

/** Longest name of a product, buyer or request, in bytes of UTF-8. Encoded, it still fits into an index of every engine. */
const MAX_NAME_BYTES = 128;
/** Sums of so many units stay exact in a double, and in the JSON that Lua writes. */
export const MAX_UNITS = 1_000_000_000;
export const MAX_SEGMENTS = 1_000;

const invalid = (message: string): StockError => new StockError('STOCK_INVALID', message);

/** Checks a name and encodes it for the engine. */
export function checkName(value: unknown, what: string): string {
  if (typeof value !== 'string' || value === '') {
    throw invalid(`${what} is ${shown(value)}; it must be a string that is not empty`);
  }
  if (!value.isWellFormed()) throw invalid(`${what} ${shown(value)} is not well-formed Unicode`);
  const bytes = Buffer.byteLength(value);
  if (bytes > MAX_NAME_BYTES)
    throw invalid(`${what} ${shown(value)} has ${bytes} bytes; at most ${MAX_NAME_BYTES} are allowed`);
  return encodeURIComponent(value);
}

/** Runs a check of locks. What it refuses is thrown as an error of stock. */
function asStockError<T>(check: () => T): T {
  try {
    return check();
  } catch (error) {
    throw isLockError(error) ? invalid(error.message) : error;
  }
}

export function checkCount(value: unknown, what: string, min: number, max: number): number {
  return asStockError(() => whole(value, what, min, max));
}

export function checkShare(value: unknown, what: string): void {
  if (typeof value === 'number' && value >= 0 && value <= 1) return;
  throw invalid(`${what} is ${shown(value)}; it must be a share from 0 to 1`);
}

export function checkDuration(value: Duration, what: string): number {
  return asStockError(() => Math.ceil(milliseconds(value, what, { min: 1, max: MAX_DURATION_MS })));
}

/** Refuses unknown options and null: otherwise a misspelt option would silently have no effect. */
export function checkOptions(options: object, known: readonly string[], of: string): void {
  if (typeof options !== 'object' || options === null) throw invalid(`${of} takes an object of options`);
  for (const [name, value] of Object.entries(options)) {
    if (!known.includes(name)) throw invalid(`${of} has no option ${shown(name)}; there are ${known.join(', ')}`);
    if (value === null) throw invalid(`${name} of ${of} is null; give a value or leave it out`);
  }
}
