import { type Clock, systemClock } from '../../core/clock.ts';
import { checkPrefix } from '../../core/key.ts';
import { checkNames } from '../../core/options.ts';

/** Options of `mongodb`. */
export interface MongoOptions {
  /** Name of the collection that holds all keys; `holdfast` by default. */
  readonly prefix?: string;
  /** Time and randomness; the machine's by default. */
  readonly clock?: Clock;
}

const KNOWN = new Set(['prefix', 'clock']);

/** @throws LockError `LOCK_INVALID` */
export function resolveMongoOptions(options: MongoOptions): Required<MongoOptions> {
  checkNames(options, KNOWN, 'options of mongodb()');
  const { prefix = 'holdfast', clock = systemClock } = options;
  return { prefix: checkPrefix(prefix), clock };
}
