import {
  type Clock,
  checkNames,
  checkPrefix,
  type Duration,
  invalid,
  milliseconds,
  namesOf,
  systemClock,
} from '../../core/index.ts';

const KNOWN = namesOf<RedisOptions>({ prefix: true, replicas: true, remember: true, clock: true });
/** The default and the bounds of `remember`, ms. */
const REMEMBER = { default: 5 * 60_000, min: 1_000, max: 86_400_000 };
const KNOWN_REPLICAS = namesOf<NonNullable<RedisOptions['replicas']>>({ acknowledge: true, within: true });

/** Options of `redis`. */
export interface RedisOptions {
  /** The beginning of all keys and channels; default `holdfast`. */
  readonly prefix?: string;
  /** Waits for replicas: a grant or a renewal counts only when they have it. By default nothing waits for replicas. */
  readonly replicas?: {
    /** The number of replicas that must have each grant and renewal: 1 to 100. */
    readonly acknowledge: number;
    /** The time in which the replicas must acknowledge: 1 ms to 1 s; default 50 ms. */
    readonly within?: Duration;
  };
  /**
   * How long a key that nobody uses keeps its last token: 1 s to a day; default 5 min. After that, the next token is the server's time. It is above
   * all earlier tokens, unless the clock was set back by more than the key's idle time. An idle key takes about 170 bytes.
   */
  readonly remember?: Duration;
  /** Time and randomness; the machine's by default. */
  readonly clock?: Clock;
}

export interface Acknowledgement {
  /** The number of replicas that must have a grant before it counts. */
  readonly count: number;
  /** The time in which the replicas must acknowledge, ms. */
  readonly within: number;
}

/** The options after the checks, with all defaults. Durations are in ms. */
export interface ResolvedRedisOptions {
  readonly prefix: string;
  readonly clock: Clock;
  readonly remember: number;
  readonly replicas: Acknowledgement | undefined;
}

/** @throws LockError `LOCK_INVALID` */
export function resolveRedisOptions(options: RedisOptions): ResolvedRedisOptions {
  checkNames(options, KNOWN, 'options of redis()');
  return {
    prefix: checkPrefix(options.prefix ?? 'holdfast'),
    clock: options.clock ?? systemClock,
    remember: Math.ceil(milliseconds(options.remember ?? REMEMBER.default, 'remember', REMEMBER)),
    replicas: acknowledgementOf(options.replicas),
  };
}

function acknowledgementOf(replicas: RedisOptions['replicas']): Acknowledgement | undefined {
  if (!replicas) return undefined;
  checkNames(replicas, KNOWN_REPLICAS, 'options of replicas');
  const { acknowledge: count, within } = replicas;
  if (!Number.isInteger(count) || count < 1 || count > 100)
    throw invalid(`replicas.acknowledge is ${count}; it must be a whole number from 1 to 100`);
  // For the command WAIT, 0 ms means no limit, so `within` is at least 1.
  return { count, within: Math.ceil(milliseconds(within ?? 50, 'replicas.within', { min: 1, max: 1_000 })) };
}
