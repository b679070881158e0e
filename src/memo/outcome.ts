import type { Leave } from '../core/contract/backend.ts';
import { isLockError, LockError } from '../core/contract/errors.ts';
import type { WordsLeft } from '../core/contract/left.ts';
import { STAYS } from './lasting.ts';
import type { MemoPlan } from './options.ts';
import type { MemoResult } from './result.ts';
import { encoded, unkeepable } from './value.ts';
import { errorBody, unkeptBody, writeEntry } from './words.ts';

/** The longest message of an error that is kept. */
const LONGEST_MESSAGE = 1_000;

/** What a run leaves. `error`: why that is no result. */
export interface Outcome {
  readonly leave: Leave;
  readonly error?: LockError;
}

/** @param max bytes that the engine takes */
export function succeeded<T>(plan: MemoPlan<T>, value: T, max: number): Outcome {
  const { key, match } = plan;
  const ttl = Math.max(plan.keep, STAYS);
  try {
    const text = writeEntry({ kind: 'kept', match, body: encoded(plan, value) }, plan);
    const size = Buffer.byteLength(text);
    if (size > max) {
      const message = `it has ${size} bytes, and the engine takes ${max}`;
      throw new LockError('LOCK_TOO_LARGE', message, { key });
    }
    return { leave: { text, ttl } };
  } catch (cause) {
    const error = isLockError(cause) ? cause : unkeepable(key, cause);
    return {
      leave: { text: writeEntry({ kind: 'unkept', match, body: unkeptBody(error) }, plan), ttl },
      error,
    };
  }
}

/**
 * What a run that failed leaves: its error, if that is to be kept, or the end of all tries. Undefined: nothing.
 * @param refreshing whether an old result is there, which is worth more than an error
 */
export function failed(plan: MemoPlan, error: unknown, tries: number, refreshing: boolean): Leave | undefined {
  const keep = !refreshing && plan.keepError(error);
  if (keep !== false) return leaveError(plan, 'failed', error, keep);
  return tries >= plan.attempts && !refreshing ? leaveError(plan, 'poisoned', error, plan.rest) : undefined;
}

/** What a caller leaves when all tries are used up: the last runner died. It is not sealed: it has no secret, and a seal may throw. */
export const usedUp = (plan: MemoPlan): Leave =>
  leaveError(
    { ...plan, seal: undefined },
    'poisoned',
    new Error('it ended without a word'),
    plan.rest,
    'a process that died or lost its lease',
  );

function leaveError(
  plan: MemoPlan,
  kind: 'failed' | 'poisoned',
  error: unknown,
  ttl: number,
  by: string = plan.terms.label,
): Leave {
  const body = errorBody(error, { by, ttl }, LONGEST_MESSAGE);
  return { text: writeEntry({ kind, match: plan.match, body }, plan), ttl, ageless: true };
}

/** What others get of a value. @param refused why it cannot be kept @param loss of the lease, if it was lost */
export function forOthers(
  became: WordsLeft,
  refused: LockError | undefined,
  loss: LockError | undefined,
): Pick<MemoResult<unknown>, 'kept' | 'error'> {
  if (became === 'left') return refused ? { kept: 'mark', error: refused } : { kept: true };
  const error = refused ?? (typeof became === 'object' ? became.refused : loss);
  return { kept: became === 'unknown' && became, ...(error && { error }) };
}
