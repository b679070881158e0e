import { type Clock, checkNames, invalid, namesOf, shown, systemClock } from '../../core/index.ts';
import { type Naming, namingOf } from '../redis-foreign/server.ts';

/** Options of `plainRedis`. */
export interface PlainRedisOptions {
  /**
   * Gives the Redis key of a lock by its name, such as `` (name) => `mutex:${name}` `` for redis-semaphore. By default the key is the name as
   * it is. It may decide by the name, since it is asked for each lock. Two names must not have one key.
   */
  readonly key?: (name: string) => string;
  /**
   * Shares the locks of Spring Integration's `RedisLockRegistry` with this registry key: the Redis key is `registry:name`, and a release is
   * published on both channels that its versions listen to.
   */
  readonly registry?: string;
  /** Time and randomness; the machine's by default. */
  readonly clock?: Clock;
}

const KNOWN = namesOf<PlainRedisOptions>({ key: true, registry: true, clock: true });

/** The names of locks, and the channels of a registry. */
export interface PlainNaming extends Naming {
  /** Gives the channels on which a release is published. The message is the key. */
  channelsOf(key: string): readonly string[];
}

/** @throws LockError `LOCK_INVALID` */
export function resolvePlainOptions(options: PlainRedisOptions): {
  readonly naming: PlainNaming;
  readonly clock: Clock;
} {
  checkNames(options, KNOWN, 'options of plainRedis()');
  const { key, registry, clock = systemClock } = options;
  if (registry === undefined) return { naming: { ...namingOf(key), channelsOf: () => [] }, clock };
  if (key) throw invalid('key and registry exclude each other: a registry says what its keys are');
  if (typeof registry !== 'string' || registry === '' || !registry.isWellFormed())
    throw invalid(`registry is ${shown(registry)}; it must be the registry key of a RedisLockRegistry`);
  // Up to 6.5.0 waiters listen to the first one, later to a channel for each key.
  const channelsOf = (of: string): string[] => [`${registry}-channel`, `${registry}-channel:${of}`];
  return { naming: { ...namingOf((name) => `${registry}:${name}`), channelsOf }, clock };
}
