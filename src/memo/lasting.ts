import type { Left, Remembered } from '../core/contract/backend.ts';
import { passedFor } from '../core/contract/clock.ts';
import { isAnswer, SHORTEST_STAY } from '../core/contract/left.ts';
import type { Caller } from './caller.ts';
import { stateOf } from './state.ts';

/** The age of the oldest result that a caller takes, ms, by the time at which its attempt is sent. */
export function oldest({ plan: { keep }, began }: Caller): (sent: number) => number {
  return keep >= SHORTEST_STAY ? () => Number.POSITIVE_INFINITY : (sent) => Math.max(keep, passedFor(sent - began));
}

/** The callers that a result is for: those that waited when it came, and all while it is kept. */
export const answered = (callers: readonly Caller[], left: Left, sent: number): Caller[] =>
  callers.filter((caller) => (caller.plan.keep > 0 || caller.began <= sent) && isAnswer(left, oldest(caller)(sent)));

/** What a later caller finds: a result that stays only for those who waited is not there. */
export function lasting(looked: Remembered, keep: number): Remembered {
  const { left, ...rest } = looked;
  if (!left || keep >= SHORTEST_STAY || stateOf(left.text) !== 'kept') return looked;
  return isAnswer(left, keep)
    ? { ...rest, left: { ...left, validFor: Math.min(left.validFor, keep - left.age) } }
    : rest;
}
