import { systemClock } from '../core/contract/clock.ts';
import { withLimit } from '../core/contract/promises.ts';

/** Limit for opening a connection, ms. */
export const CONNECT_WITHIN = 5_000;

/** The result of `promise`, or an error after `within` ms: a stopped server accepts connections and never answers. */
export const bounded = <T>(promise: Promise<T>, within: number = CONNECT_WITHIN): Promise<T> =>
  withLimit(promise, within, () => new Error(`no answer within ${within} ms`), systemClock);
