import { type Clock, checkNames, invalid, namesOf, shown, systemClock } from '../../core/index.ts';
import { type Naming, namingOf } from '../redis-foreign/server.ts';

/** Options of `redisson`. */
export interface RedissonOptions {
  /**
   * Gives the name that a lock has for Redisson, by its name here, such as `` (name) => `orders:${name}` ``. By default it is the same. Two
   * names must not become one.
   */
  readonly key?: (name: string) => string;
  /**
   * Mutexes are `RFencedLock`, whose counter gives the token, so Java and Node.js share one order of tokens. Default false: mutexes are `RLock`,
   * and tokens order our holds only.
   */
  readonly fenced?: boolean;
  /**
   * Mutexes are `RFairLock`: they stand in its queue, and pass nobody there. Then `rwLock` is refused, and so is `fenced`, since such a lock has
   * no counter. Default false: mutexes pass the queue, as an `RLock` does.
   */
  readonly fair?: boolean;
  /** Time and randomness; the machine's by default. */
  readonly clock?: Clock;
}

const KNOWN = namesOf<RedissonOptions>({ key: true, fenced: true, fair: true, clock: true });

/** @throws LockError `LOCK_INVALID` */
export function resolveRedissonOptions(options: RedissonOptions): {
  readonly naming: Naming;
  readonly fenced: boolean;
  readonly fair: boolean;
  readonly clock: Clock;
} {
  checkNames(options, KNOWN, 'options of redisson()');
  const { key, fenced = false, fair = false, clock = systemClock } = options;
  for (const [name, given] of Object.entries({ fenced, fair }))
    if (typeof given !== 'boolean') throw invalid(`${name} is ${shown(given)}; it must be true or false`);
  if (fair && fenced)
    throw invalid('fair and fenced are both true; an RFairLock has no counter, so leave one of them out');
  return { naming: namingOf(key), fenced, fair, clock };
}
