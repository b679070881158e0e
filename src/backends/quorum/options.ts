import {
  type Backend,
  type Clock,
  checkBackend,
  checkNames,
  type Duration,
  invalid,
  MAX_DURATION_MS,
  milliseconds,
  namesOf,
  shown,
  systemClock,
} from '../../core/index.ts';

/** Options of `quorum`. */
export interface QuorumOptions {
  /**
   * The part of a lease by which the clocks of the nodes and of this process may drift apart while the lease runs: 0 to 0.5. Default
   * 0.01, and always 2 ms more, as in the Redlock algorithm.
   */
  readonly drift?: number;
  /**
   * If true, a node that restarted does not count until the longest lease that it may have forgotten is over. The other nodes
   * remember how long that lease was. Default true.
   */
  readonly restartGuard?: boolean;
  /**
   * The longest lease allowed. A restarted node waits this long if too few nodes remember their leases. So does a new quorum, if one
   * of its nodes is away. Give the same to all processes. Default 70 s: no call asks for a longer lease by default (`once` keeps its record for 67 s).
   */
  readonly maxTtl?: Duration;
  /** Time and randomness; the machine's by default. */
  readonly clock?: Clock;
}

export const QUORUM_OPTIONS = namesOf<QuorumOptions>({ drift: true, restartGuard: true, maxTtl: true, clock: true });

export interface ResolvedQuorumOptions {
  readonly drift: number;
  /** If true, a node that restarted does not count until every vote that it may have forgotten has expired. */
  readonly guarded: boolean;
  readonly maxTtl: number;
  readonly clock: Clock;
}

/** @throws LockError `LOCK_INVALID` */
export function resolveQuorumOptions(options: QuorumOptions): ResolvedQuorumOptions {
  checkNames(options, QUORUM_OPTIONS, 'quorum options');
  const { drift = 0.01, restartGuard = true, maxTtl = '70s', clock = systemClock } = options;
  if (!(drift >= 0 && drift <= 0.5)) throw invalid(`drift is ${shown(drift)}; it must be from 0 to 0.5`);
  if (typeof restartGuard !== 'boolean')
    throw invalid(`restartGuard is ${shown(restartGuard)}; it must be true or false`);
  const longest = milliseconds(maxTtl, 'maxTtl', { min: 100, max: MAX_DURATION_MS });
  return { drift, guarded: restartGuard, maxTtl: longest, clock };
}

/** @throws LockError `LOCK_INVALID` */
export function checkNodes(backends: readonly Backend[]): void {
  if (!Array.isArray(backends) || backends.length < 2) {
    const count = shown((backends as unknown[])?.length);
    throw invalid(`quorum() needs at least two backends, not ${count}; three or five are usual`);
  }
  for (const backend of backends) checkBackend(backend, 'quorum()');
  if (new Set(backends).size < backends.length) throw invalid('quorum() was given the same backend twice');
}
