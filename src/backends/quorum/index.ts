import type { Backend } from '../../core/backend.ts';
import { type Clock, systemClock } from '../../core/clock.ts';
import { type Duration, LONGEST, milliseconds } from '../../core/duration.ts';
import { invalid, shown } from '../../core/errors.ts';
import { checkBackend, checkNames } from '../../core/options.ts';
import { Quorum } from './quorum.ts';

export interface QuorumOptions {
  /**
   * The part of a lease by which the clocks of the nodes and of this process may drift apart while it runs: 0 to 0.5. Default
   * 0.01, and 2 ms, as in the Redlock algorithm.
   */
  readonly drift?: number;
  /**
   * Whether a node that started anew does not count until the longest lease is over that it may have forgotten: what that was the
   * nodes remember. Default true.
   */
  readonly restartGuard?: boolean;
  /** The longest lease there may be, also where too few nodes remember how long theirs were. Default 5 minutes. */
  readonly maxTtl?: Duration;
  /** Time and randomness; the machine's by default. */
  readonly clock?: Clock;
}

const NAMES = new Set('drift restartGuard maxTtl clock'.split(' ') satisfies readonly string[]);

/**
 * A lock is held when more than half of these engines say so: it outlives the loss of a minority of them. They have to be
 * independent of each other, and need not be alike. After Redlock (https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/),
 * with fencing tokens that grow. `close` closes them.
 * @throws LockError `LOCK_INVALID` for fewer than two, for what is no backend or is given twice, or for a bad option
 */
export function quorum(backends: readonly Backend[], options: QuorumOptions = {}): Backend {
  checkNames(options, NAMES, 'quorum options');
  if (!Array.isArray(backends) || backends.length < 2) {
    throw invalid(
      `quorum() needs at least two backends, not ${shown((backends as unknown[])?.length)}; three or five are usual`,
    );
  }
  for (const backend of backends) checkBackend(backend, 'quorum()');
  if (new Set(backends).size < backends.length) throw invalid('quorum() was given the same backend twice');
  const { drift = 0.01, restartGuard = true, maxTtl = '5m', clock = systemClock } = options;
  if (!(drift >= 0 && drift <= 0.5)) throw invalid(`drift is ${shown(drift)}; it must be from 0 to 0.5`);
  if (typeof restartGuard !== 'boolean')
    throw invalid(`restartGuard is ${shown(restartGuard)}; it must be true or false`);
  const longest = milliseconds(maxTtl, 'maxTtl', { min: 100, max: LONGEST });
  return new Quorum(backends, { drift, guarded: restartGuard, maxTtl: longest, clock });
}
