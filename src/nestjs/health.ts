import {
  checkNames,
  type Duration,
  isLockError,
  KeyedSerializer,
  type LockOptions,
  milliseconds,
  namesOf,
  systemClock,
  withLimit,
} from '../core/index.ts';
import type { Locks } from '../locks.ts';
import type { CandidateState } from './host.ts';

/** The result of an indicator for `@nestjs/terminus` (from version 11). */
export type LocksHealth = Record<string, LocksHealthDetail>;

/** The result of a health check. */
export interface LocksHealthDetail {
  /** `down`: the engine did not answer or failed, or a method has not settled 10 s after its term. */
  readonly status: 'up' | 'down';
  /** How long the engine took to answer, ms. */
  readonly responseTime: number;
  /** The elections that this instance leads. */
  readonly leading: readonly string[];
  /** The elections whose method has not settled 10 s after the end of its term. */
  readonly overdue?: readonly string[];
  /** Why the status is `down`. */
  readonly message?: string;
}

/** How long a health check may take. */
export interface HealthOptions {
  /** How long to wait for the engine's answer. Default 2 s, at most a minute. */
  readonly timeout?: Duration;
}

const NAMES = namesOf<HealthOptions>({ timeout: true });
const PROBE_KEY = 'holdfast:health';
const DEFAULT_TIMEOUT_MS = 2_000;
/**
 * No option is here that an engine or the defaults of the locks may forbid, such as `ttl`. If a process dies during its probe, the lease of
 * that probe refuses further probes until it expires. A refusal is an answer, too: `up`.
 */
const PROBE_OPTIONS: LockOptions = { minHold: 0, delay: 0 };

/** Reports to probes whether the engine answers. An instance is also healthy if another instance leads. */
export class LocksHealthIndicator {
  readonly #locks: Locks;
  /** A probe that meets another one of this process would be refused here, and the engine would not be asked. */
  readonly #turns = new KeyedSerializer();
  readonly #namesOf: (standing: CandidateState) => string[];

  /** @internal */
  constructor(locks: Locks, namesOf: (standing: CandidateState) => string[]) {
    this.#locks = locks;
    this.#namesOf = namesOf;
  }

  /**
   * Asks for a lock of its own and releases it. Gives `down`, and does not reject, if the engine does not answer in time or
   * fails, or a method has not settled 10 s after its term.
   * @param key the name in the result
   * @throws LockError `LOCK_INVALID` for a bad option
   * @example
   * import { HealthCheckService } from '@nestjs/terminus';
   * class Health {
   *   constructor(health: HealthCheckService, locks: LocksHealthIndicator) {
   *     this.check = () => health.check([() => locks.isHealthy('locks', { timeout: '1s' })]);
   *   }
   *   readonly check: () => Promise<unknown>;
   * }
   */
  async isHealthy(key = 'locks', options: HealthOptions = {}): Promise<LocksHealth> {
    checkNames(options, NAMES, 'the options of isHealthy()');
    const timeout = milliseconds(options.timeout ?? DEFAULT_TIMEOUT_MS, 'timeout', { min: 1, max: 60_000 });
    const start = performance.now();
    const trouble = await this.#probe(timeout);
    const responseTime = Math.round(performance.now() - start);
    const leading = this.#namesOf('leading');
    const overdue = this.#namesOf('overdue');
    const late = overdue.length > 0 && {
      overdue,
      message: `what led ${overdue.join(', ')} has not settled, though its term is over`,
    };
    const status = trouble || late ? 'down' : 'up';
    return { [key]: { status, responseTime, leading, ...late, ...(trouble && { message: trouble }) } };
  }

  /** @returns what is wrong; undefined if the engine answers */
  async #probe(timeout: number): Promise<string | undefined> {
    const late = new AbortController();
    const probe = async (): Promise<void> => {
      const lease = await this.#locks.mutex(PROBE_KEY, PROBE_OPTIONS).tryAcquire({ signal: late.signal });
      await lease?.release();
    };
    const giveUp = (): Error => {
      late.abort();
      return late.signal.reason;
    };
    try {
      await withLimit(this.#turns.take(PROBE_KEY, probe), timeout, giveUp, systemClock);
      return undefined;
    } catch (error) {
      if (late.signal.aborted) return `the engine did not answer within ${timeout} ms`;
      if (!isLockError(error)) throw error;
      return `${error.code}: ${error.message}`;
    }
  }
}
