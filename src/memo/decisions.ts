import {
  isAnswer,
  isLockError,
  MIN_VALUE_TTL_MS,
  passedFor,
  type StoredValue,
  UNANSWERED,
  type ValueRecord,
} from '../core/index.ts';
import type { MemoPlan } from './options.ts';
import { isOfError } from './state.ts';

/** The facts of a call that decide which results it takes. */
export interface Asking {
  readonly plan: Pick<MemoPlan, 'keep'>;
  /** The time of the call, ms. */
  readonly began: number;
}

/** The greatest age of a result that a caller takes, ms. Infinity: the engine itself drops old results. @param sent the time of the attempt, ms */
export function maxAge({ plan: { keep }, began }: Asking, sent: number): number {
  return keep >= MIN_VALUE_TTL_MS ? Number.POSITIVE_INFINITY : Math.max(keep, passedFor(sent - began));
}

/** The callers that take a result, since it was stored after their call, or is not older than their `keep`. */
export const answered = <C extends Asking>(callers: readonly C[], value: StoredValue, sent: number): C[] =>
  callers.filter((caller) => (caller.plan.keep > 0 || caller.began <= sent) && isAnswer(value, maxAge(caller, sent)));

/** Gives what a caller with this `keep` may see of a look: no result older than `keep`, even if the engine still has it. */
export function keptFor(keep: number, looked: ValueRecord): ValueRecord {
  const { value, ...rest } = looked;
  if (!value || keep >= MIN_VALUE_TTL_MS || isOfError(value.text)) return looked;
  return isAnswer(value, keep)
    ? { ...rest, value: { ...value, validFor: Math.min(value.validFor, keep - value.age) } }
    : rest;
}

/** Whether a caller needs no new value: the value found is younger than `refresh`, or all attempts to make another value are used up. */
export const isEnough = ({ value, attempts }: ValueRecord, plan: Pick<MemoPlan, 'refresh' | 'attempts'>): boolean =>
  value !== undefined && (value.age < plan.refresh || attempts >= plan.attempts);

/** The value `ms` later; undefined if the value is no longer valid by then. */
export const aged = (value: StoredValue, ms: number): StoredValue | undefined =>
  ms < value.validFor ? { ...value, age: value.age + ms, validFor: value.validFor - ms } : undefined;

/** How a claim ended without a hold and without a value. */
export interface FailedClaim {
  readonly error: unknown;
  /** Why this process ended the claim, if it did: the engine was silent for too long, or no caller was left. */
  readonly ended: typeof UNANSWERED | 'not needed' | undefined;
  /** Whether an old result is there. */
  readonly hasOld: boolean;
  /** Whether the first caller has `wait: 0`, or has waited for `MAX_OUTAGE_MS`. */
  readonly hasWaited: boolean;
}

/**
 * What the callers get after a failed claim. `nothing`: no caller was left; later callers get another claim. `silence`: callers that have waited for
 * `MAX_OUTAGE_MS` get an error. `old`: the first caller, which has found the old result, gets it; the others may have come after a `forget`.
 * `refuse first`: only the first caller gets the error, since the others may have the right request. `refuse all`: all get the error.
 */
export function afterFailure(claim: FailedClaim): 'nothing' | 'silence' | 'old' | 'refuse first' | 'refuse all' {
  const { error, ended, hasOld, hasWaited } = claim;
  if (ended) return ended === UNANSWERED ? 'silence' : 'nothing';
  if (hasOld && !isLockError(error, 'LOCK_CLOSED')) return 'old';
  if (isLockError(error, 'LOCK_MISMATCH')) return 'refuse first';
  return isLockError(error, 'LOCK_UNAVAILABLE') && hasWaited ? 'silence' : 'refuse all';
}

/**
 * What to do with a claim that holds the key. `release`: no caller with the request of the claim waits any more; or all attempts are used up, and
 * there is an old result, which is better than an error. `poison`: store that the attempts are used up. `run`: run the function of a caller.
 * @param attempts how often a run was begun, this time included @param plan the plan of the caller whose function would run; undefined if there is
 * none
 */
export function afterGrant(
  attempts: number,
  plan: Pick<MemoPlan, 'attempts'> | undefined,
  hasOld: boolean,
): 'release' | 'poison' | 'run' {
  if (!plan) return 'release';
  if (attempts <= plan.attempts) return 'run';
  return hasOld ? 'release' : 'poison';
}
