import type { Backend } from '../../core/backend.ts';
import { type Clock, systemClock } from '../../core/clock.ts';
import { invalid } from '../../core/errors.ts';
import { checkPrefix } from '../../core/key.ts';
import { checkNames } from '../../core/options.ts';
import type { MongoDb } from './driver.ts';
import { Mongo } from './mongodb.ts';

export type { MongoCollection, MongoDb, MongoStream } from './driver.ts';

export interface MongoOptions {
  /** Name of the collection that holds all keys; `holdfast` by default. */
  readonly prefix?: string;
  /** Time and randomness; the machine's by default. */
  readonly clock?: Clock;
}

const KNOWN = new Set(['prefix', 'clock']);

/**
 * Locks in a collection of a database of MongoDB 4.4 or later. The client stays yours, and open.
 * @param db a `Db` of the official driver: `client.db('app')`
 * @throws LockError `LOCK_INVALID` when it is no database, or for a bad option.
 */
export function mongodb(db: MongoDb, options: MongoOptions = {}): Backend {
  checkNames(options, KNOWN, 'options of mongodb()');
  if (typeof db?.collection !== 'function') throw invalid(`mongodb() needs a database: client.db('app')`);
  const { prefix = 'holdfast', clock = systemClock } = options;
  return new Mongo(db, checkPrefix(prefix), clock);
}
