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
import { stateOf } from './state.ts';

/** The facts of a call that decide which results it takes. */
export interface Asking {
  readonly plan: Pick<MemoPlan, 'keep'>;
  /** When it called, ms. */
  readonly began: number;
}

/** The age of the oldest result that a caller takes, ms. @param sent when the attempt is sent */
export function maxAge({ plan: { keep }, began }: Asking, sent: number): number {
  return keep >= MIN_VALUE_TTL_MS ? Number.POSITIVE_INFINITY : Math.max(keep, passedFor(sent - began));
}

/** The callers that take a result: those who waited when it was stored, and all others while it is kept. */
export const answered = <C extends Asking>(callers: readonly C[], value: StoredValue, sent: number): C[] =>
  callers.filter((caller) => (caller.plan.keep > 0 || caller.began <= sent) && isAnswer(value, maxAge(caller, sent)));

/** What a caller with this `keep` finds. A result that the engine keeps for longer than `keep` is not there for it. */
export function keptFor(keep: number, looked: ValueRecord): ValueRecord {
  const { value, ...rest } = looked;
  if (!value || keep >= MIN_VALUE_TTL_MS || stateOf(value.text) !== 'kept') return looked;
  return isAnswer(value, keep)
    ? { ...rest, value: { ...value, validFor: Math.min(value.validFor, keep - value.age) } }
    : rest;
}

/** Whether a caller needs no new value: the one that it found is younger than `refresh`, or all attempts to make one are used up. */
export const isEnough = ({ value, attempts }: ValueRecord, plan: Pick<MemoPlan, 'refresh' | 'attempts'>): boolean =>
  value !== undefined && (value.age < plan.refresh || attempts >= plan.attempts);

/** The value as it is `ms` later; undefined if it is no longer valid then. */
export const aged = (value: StoredValue, ms: number): StoredValue | undefined =>
  ms < value.validFor ? { ...value, age: value.age + ms, validFor: value.validFor - ms } : undefined;

/** How a claim ended that got no hold and no value. */
export interface FailedClaim {
  /** The error of the claim. */
  readonly error: unknown;
  /** Why this process ended the claim, if it did: the engine was silent for too long, or no caller was left. */
  readonly ended: typeof UNANSWERED | 'not needed' | undefined;
  /** An old result is there. */
  readonly hasOld: boolean;
  /** The first caller does not wait, or has waited long enough for an engine that is away. */
  readonly hasWaited: boolean;
}

/**
 * What the callers get after a failed claim. `nothing`: later callers may have come. `silence`: those that have waited long enough get an
 * error. `old`: all get the old result. `refuse first`: only the first caller gets the error, since the others may have the right request.
 * `refuse all`: all get the error.
 */
export function afterFailure(claim: FailedClaim): 'nothing' | 'silence' | 'old' | 'refuse first' | 'refuse all' {
  const { error, ended, hasOld, hasWaited } = claim;
  if (ended) return ended === UNANSWERED ? 'silence' : 'nothing';
  if (hasOld && !isLockError(error, 'LOCK_CLOSED')) return 'old';
  if (isLockError(error, 'LOCK_MISMATCH')) return 'refuse first';
  return isLockError(error, 'LOCK_UNAVAILABLE') && hasWaited ? 'silence' : 'refuse all';
}

/**
 * What to do with a claim that holds the key. `release`: no caller of its request waits any more; or all attempts are used up, and there is
 * an old result, which is better than an error. `poison`: store that the attempts are used up. `run`: run the function of a caller.
 * @param attempts how often a run was begun, this time included @param plan of the caller whose function would run; undefined if there is none
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
