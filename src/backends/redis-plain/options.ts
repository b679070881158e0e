import { type Clock, checkNames, invalid, namesOf, quoted, shown, systemClock } from '../../core/index.ts';

/** Options of `plainRedis`. */
export interface PlainRedisOptions {
  /**
   * Gives the Redis key of a lock by its name, such as `` (name) => `mutex:${name}` `` for redis-semaphore. By default the key is the name as
   * it is. Two names must not have one key.
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

/** The names of locks and what other programs call them. */
export interface Naming {
  /** Gives the Redis key of a lock. */
  keyOf(name: string): string;
  /** The texts before and behind the name in every key; undefined where a key does not tell its name. */
  readonly around: { readonly before: string; readonly after: string } | undefined;
  /** Whether all keys of that form are locks. Otherwise a database holds other things under such keys, too. */
  readonly own: boolean;
  /** Gives the channels on which a release is published. The message is the key. */
  channelsOf(key: string): readonly string[];
}

/** @throws LockError `LOCK_INVALID` */
export function resolvePlainOptions(options: PlainRedisOptions): { readonly naming: Naming; readonly clock: Clock } {
  checkNames(options, KNOWN, 'options of plainRedis()');
  const { key, registry, clock = systemClock } = options;
  if (key !== undefined && typeof key !== 'function')
    throw invalid(`key is ${shown(key)}; it must be a function from the name of a lock to its Redis key`);
  if (registry === undefined) return { naming: namingOf(key ?? ((name) => name), () => []), clock };
  if (key) throw invalid('key and registry exclude each other: a registry says what its keys are');
  if (typeof registry !== 'string' || registry === '' || !registry.isWellFormed())
    throw invalid(`registry is ${shown(registry)}; it must be the registry key of a RedisLockRegistry`);
  // Up to 6.5.0 waiters listen to the first one, later to a channel for each key.
  const channelsOf = (of: string): string[] => [`${registry}-channel`, `${registry}-channel:${of}`];
  return { naming: namingOf((name) => `${registry}:${name}`, channelsOf), clock };
}

function namingOf(key: (name: string) => string, channelsOf: Naming['channelsOf']): Naming {
  const keyOf = (name: string): string => {
    const found: unknown = key(name);
    if (typeof found === 'string' && found !== '' && found.isWellFormed()) return found;
    throw invalid(`key() gave ${shown(found)} for ${quoted(name)}; it must be well-formed text`, name);
  };
  const [before, after, more] = keyOf(PROBE).split(PROBE);
  const around = before !== undefined && after !== undefined && more === undefined ? { before, after } : undefined;
  return { keyOf, around, own: around !== undefined && around.before + around.after !== '', channelsOf };
}

/** A name that shows what stands around each name in its key. */
const PROBE = 'holdfast-8f2c51';
