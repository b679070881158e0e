import { type Clock, checkNames, invalid, LockError, namesOf, shown, systemClock } from '../../core/index.ts';
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
  /** Refused: a place in the queue of an `RFairLock` ends by the clocks of its clients. Leave it out. */
  readonly fair?: false;
  /** Time and randomness; the machine's by default. */
  readonly clock?: Clock;
}

const KNOWN = namesOf<RedissonOptions>({ key: true, fenced: true, fair: true, clock: true });

/** @throws LockError `LOCK_INVALID`, or `LOCK_UNSUPPORTED` for `fair` */
export function resolveRedissonOptions(options: RedissonOptions): {
  readonly naming: Naming;
  readonly fenced: boolean;
  readonly clock: Clock;
} {
  checkNames(options, KNOWN, 'options of redisson()');
  const { key, fenced = false, fair = false, clock = systemClock } = options;
  for (const [name, given] of Object.entries({ fenced, fair }))
    if (typeof given !== 'boolean') throw invalid(`${name} is ${shown(given)}; it must be true or false`);
  if (fair) {
    const why =
      'redisson() does not join the queue of an RFairLock: its places end by the clocks of its clients, and a dead client at its head keeps ' +
      'all others out for 5 minutes. Use an RLock on both sides, or redis() where all programs use holdfast';
    throw new LockError('LOCK_UNSUPPORTED', why, { backend: 'redisson' });
  }
  return { naming: namingOf(key), fenced, clock };
}
