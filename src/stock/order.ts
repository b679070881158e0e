import { systemClock } from '../core/clock.ts';
import type { Duration } from '../core/duration.ts';
import { checkCount, checkDuration, checkName, MAX_UNITS } from './input.ts';

/** What one buyer wants. */
export interface Order {
  /** How many; all or none. Default 1. */
  readonly units?: number;
  /** Who buys: chooses the segment, and is what the limit counts by. */
  readonly buyer?: string;
  /** Repeating an order with the same id (per buyer) does it once. Default: a new one, and so never a repeat. */
  readonly request?: string;
}

/** An order that holds units back for a while. */
export interface ReserveOrder extends Order {
  /** The units come back by themselves after that long. Default 10 minutes, by the engine's clock. */
  readonly ttl?: Duration;
}

/** An order that is sold under the lock of its segment. */
export interface SellOrder extends ReserveOrder {
  /** How long to wait for the segment's lock; default: no limit. */
  readonly wait?: Duration;
  /** Ends the wait. */
  readonly signal?: AbortSignal;
}

/**
 * Units that are held back.
 * @example
 * const kept = await phones.reserve({ buyer: 'li', ttl: '10m' });
 * const paid = await pay(kept.units);
 * await (paid ? phones.confirm(kept.ref) : phones.cancel(kept.ref));
 */
export interface Reserved {
  /** Names the reservation and the place where it is, for `confirm` and `cancel` in any process. */
  readonly ref: string;
  /** How many. */
  readonly units: number;
  /** Below the number of segments. */
  readonly segment: number;
  /** ms until it runs out, when it was answered; 0 once it is sold. */
  readonly remaining: number;
  /** The request was done before, and nothing was changed by this one. */
  readonly repeated: boolean;
}

/** What the business logic under a segment's lock gets. */
export interface Sale extends Reserved {
  /** Fencing token of the segment: write it with what you write, and refuse older ones there. */
  readonly token: bigint;
  /** Aborted when the lock is lost: stop. */
  readonly signal: AbortSignal;
}

/** Units that were sold. */
export interface Sold<T> extends Reserved {
  /** What the business logic gave; undefined when the sale was done before. */
  readonly result?: T;
}

/** How many units are where. */
export interface Levels {
  /** Units that are kept back, to go where they are needed. */
  readonly reserve: number;
  /** Units that can be bought, segment by segment. */
  readonly segments: readonly number[];
  /** Units that are kept for buyers. */
  readonly reserved: number;
  /** Units that are sold. */
  readonly sold: number;
}

/** An order, checked and encoded. */
export interface Wish {
  readonly units: number;
  readonly buyer: string;
  readonly id: string;
  /** The request may have been made before. */
  readonly repeats: boolean;
  /** What its segment is chosen by; undefined: in turn. */
  readonly routed: string | undefined;
  readonly ttl: number;
  /** When it was made, by the machine's clock. ms. */
  readonly came: number;
}

/** @internal */
export const ORDER: readonly string[] = ['units', 'buyer', 'request'];

/** How long it is reserved, ms. Null is no duration, and does not stand for the default. */
export const ttlOf = ({ ttl = '10m' }: ReserveOrder): number => checkDuration(ttl, 'ttl');

/** Checks an order and encodes its names. @param ttl ms; 0: sold at once */
export function wishOf({ units = 1, buyer, request }: Order, ttl: number): Wish {
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
