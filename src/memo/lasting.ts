import { isAnswer, MIN_VALUE_TTL_MS, passedFor, type StoredValue, type ValueRecord } from '../core/index.ts';
import type { Caller } from './caller.ts';
import { stateOf } from './state.ts';

/** The age of the oldest result that a caller takes, ms, by the time at which its attempt is sent. */
export function oldest({ plan: { keep }, began }: Caller): (sent: number) => number {
  return keep >= MIN_VALUE_TTL_MS ? () => Number.POSITIVE_INFINITY : (sent) => Math.max(keep, passedFor(sent - began));
}

/** The callers that a result is for: those that waited when it came, and all while it is kept. */
export const answered = (callers: readonly Caller[], left: StoredValue, sent: number): Caller[] =>
  callers.filter((caller) => (caller.plan.keep > 0 || caller.began <= sent) && isAnswer(left, oldest(caller)(sent)));

/** What a later caller finds: a result that stays only for those who waited is not there. */
export function lasting(looked: ValueRecord, keep: number): ValueRecord {
  const { value, ...rest } = looked;
  if (!value || keep >= MIN_VALUE_TTL_MS || stateOf(value.text) !== 'kept') return looked;
  return isAnswer(value, keep)
    ? { ...rest, value: { ...value, validFor: Math.min(value.validFor, keep - value.age) } }
    : rest;
}
