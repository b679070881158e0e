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

/** A call, as far as it decides which results are for it. */
export interface Asking {
  readonly plan: Pick<MemoPlan, 'keep'>;
  /** When it called, ms. */
  readonly began: number;
}

/** The age of the oldest result that a caller takes, ms, for an attempt that is sent at a given time. */
export function maxAge({ plan: { keep }, began }: Asking, sent: number): number {
  return keep >= MIN_VALUE_TTL_MS ? Number.POSITIVE_INFINITY : Math.max(keep, passedFor(sent - began));
}

/** The callers that a result is for: those that waited when it came, and all while it is kept. */
export const answered = <C extends Asking>(callers: readonly C[], value: StoredValue, sent: number): C[] =>
  callers.filter((caller) => (caller.plan.keep > 0 || caller.began <= sent) && isAnswer(value, maxAge(caller, sent)));

/** What a later caller finds: a result that stays only for those who waited is not there. */
export function keptFor(keep: number, looked: ValueRecord): ValueRecord {
  const { value, ...rest } = looked;
  if (!value || keep >= MIN_VALUE_TTL_MS || stateOf(value.text) !== 'kept') return looked;
  return isAnswer(value, keep)
    ? { ...rest, value: { ...value, validFor: Math.min(value.validFor, keep - value.age) } }
    : rest;
}

/** Whether a caller that finds a value makes no new one: it is no older than `refresh`, or all attempts to make one are used up. */
export const isEnough = ({ value, attempts }: ValueRecord, plan: Pick<MemoPlan, 'refresh' | 'attempts'>): boolean =>
  value !== undefined && (value.age < plan.refresh || attempts >= plan.attempts);

/** The value, seen `ms` later; undefined if it is over by then. */
export const aged = (value: StoredValue, ms: number): StoredValue | undefined =>
  ms < value.validFor ? { ...value, age: value.age + ms, validFor: value.validFor - ms } : undefined;

/** How a claim ended that came to no hold and no value. */
export interface FailedClaim {
  /** What it ended with. */
  readonly error: unknown;
  /** Its own process ended it: since the engine was silent for too long, or since no caller was left. */
  readonly ended: typeof UNANSWERED | 'not needed' | undefined;
  /** An old result is there. */
  readonly hasOld: boolean;
  /** The first caller does not wait for an engine that is away, or has done so for long enough. */
  readonly hasWaited: boolean;
}

/**
 * What the callers get for it. `nothing`: others may have come by now. `silence`: those that have waited long enough for the engine get
 * its error. `old`: all get the old result. `refuse first`, `refuse all`: these get the error. Callers of another request than the first
 * one may be right, so they go on.
 */
export function afterFailure(claim: FailedClaim): 'nothing' | 'silence' | 'old' | 'refuse first' | 'refuse all' {
  const { error, ended, hasOld, hasWaited } = claim;
  if (ended) return ended === UNANSWERED ? 'silence' : 'nothing';
  if (hasOld && !isLockError(error, 'LOCK_CLOSED')) return 'old';
  if (isLockError(error, 'LOCK_MISMATCH')) return 'refuse first';
  return isLockError(error, 'LOCK_UNAVAILABLE') && hasWaited ? 'silence' : 'refuse all';
}

/**
 * What a claim is good for that holds the key. `release`: nobody of its request waits any more; or all attempts are used up, and the old
 * result is worth more than an error. `poison`: store that they are used up. `run`: run the function of a caller.
 * @param attempts how often a run was begun, this time included @param plan of the caller whose function would run
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
