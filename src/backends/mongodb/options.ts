import { type Clock, checkNames, checkPrefix, namesOf, systemClock } from '../../core/index.ts';

/** Options of `mongodb`. */
export interface MongoOptions {
  /** The name of the collection with all keys. Default `holdfast`. */
  readonly prefix?: string;
  /** Time and randomness. Default: the machine's. */
  readonly clock?: Clock;
}

const KNOWN = namesOf<MongoOptions>({ prefix: true, clock: true });

/** @throws LockError `LOCK_INVALID` */
export function resolveMongoOptions(options: MongoOptions): Required<MongoOptions> {
  checkNames(options, KNOWN, 'options of mongodb()');
  const { prefix = 'holdfast', clock = systemClock } = options;
  return { prefix: checkPrefix(prefix), clock };
}
