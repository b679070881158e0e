import {
  type Clock,
  checkNames,
  counted,
  invalid,
  isLockError,
  LockError,
  milliseconds,
  namesOf,
  shown,
  sleep,
  systemClock,
  whole,
} from '../core/index.ts';
import { codesOf } from './query.ts';
import { STALE } from './rows.ts';

const MAX_PAUSE_MS = 1_000;
/** PostgreSQL's serialization failure and deadlock, MySQL's deadlock, MariaDB's ER_CHECKREAD. */
const OVERTAKEN = ['40001', '40P01', '1213', '1020'];

/** How often and when to try again. */
export interface RetryOptions {
  /** The largest number of attempts, 1 to 100. Default 5. */
  readonly attempts?: number;
  /** The limit of the first pause, ms. It doubles with each attempt, up to 1 s. Each pause is random, below its limit. Default 20. */
  readonly pause?: number;
  /** Ends the attempts, also during a pause. */
  readonly signal?: AbortSignal;
  /** Time and randomness. Default: the machine's. */
  readonly clock?: Clock;
}

const RETRY = namesOf<RetryOptions>({ attempts: true, pause: true, signal: true, clock: true });

/**
 * Runs `fn` again while it returns `STALE`, or while its transaction fails because another one came first (a deadlock, a
 * serialization failure). In each attempt, `fn` begins and ends a transaction of its own, and reads again.
 * @throws LockError `LOCK_TIMEOUT` after the last attempt, `LOCK_ABORTED`, and any other error of `fn`
 * @example
 * const paid = { dialect: 'postgres', table: 'orders', where: { id: 42 }, set: { state: 'paid' } } as const;
 * await retryStale(() =>
 *   inTransaction(async (query) => {
 *     const { rows } = await query('SELECT version FROM orders WHERE id = 42', []);
 *     return changeRow(query, { ...paid, version: rows[0].version });
 *   }),
 * );
 */
export async function retryStale<T>(
  fn: (attempt: number) => Promise<T | typeof STALE>,
  options: RetryOptions = {},
): Promise<T> {
  if (typeof fn !== 'function') throw invalid(`retryStale() needs a function, not ${shown(fn)}`);
  checkNames(options, RETRY, 'the options of retryStale');
  const { attempts = 5, pause = 20, signal, clock = systemClock } = options;
  whole(attempts, 'attempts', 1, 100);
  milliseconds(pause, 'pause');
  let cause: unknown;
  for (let attempt = 1; attempt <= attempts; attempt++) {
    if (signal?.aborted) throw new LockError('LOCK_ABORTED', 'the signal ended the attempts', { cause: signal.reason });
    try {
      const result = await fn(attempt);
      if (result !== STALE) return result;
    } catch (error) {
      const isOvertaken = codesOf(error).some((code) => OVERTAKEN.includes(code));
      if (!isOvertaken && !isLockError(error, 'LOCK_DEADLOCK')) throw error;
      cause = error;
    }
    const longest = Math.min(pause * 2 ** (attempt - 1), Math.max(pause, MAX_PAUSE_MS));
    if (attempt < attempts && !signal?.aborted) await sleep(clock, clock.random() * longest, signal);
  }
  const message = `the row changed ${counted(attempts, 'time')} before it could be written: try again later`;
  throw new LockError('LOCK_TIMEOUT', message, { cause });
}
