import { type LockError, MIN_VALUE_TTL_MS, type NewValue, type StoreOutcome } from '../core/index.ts';
import { RefusedValue } from './encoding.ts';
import { type Entry, encoded, errorBody, unkeptBody, writeEntry } from './entry.ts';
import type { MemoResult } from './memo.ts';
import type { MemoPlan } from './options.ts';

/** What a run stores: its value, or the note that the value cannot be kept. @param max how many bytes the engine takes */
export function succeeded<T>(plan: MemoPlan<T>, value: T, max: number): NewValue {
  const { match, seal } = plan;
  const ttl = Math.max(plan.keep, MIN_VALUE_TTL_MS);
  try {
    return { text: written({ kind: 'kept', match, body: encoded(plan, value) }, seal, max), ttl };
  } catch (refused) {
    const body = unkeptBody(refused as RefusedValue, seal !== undefined);
    return { text: writeEntry({ kind: 'unkept', match, body }, undefined), ttl };
  }
}

/** @throws RefusedValue */
function written(entry: Entry, seal: MemoPlan['seal'], max: number): string {
  const text = writeEntry(entry, seal);
  const size = Buffer.byteLength(text);
  if (size <= max) return text;
  throw new RefusedValue(`it has ${size} bytes, and the engine takes ${max}`, undefined, 'LOCK_TOO_LARGE');
}

/**
 * What a failed run stores: its error, if the memo keeps errors, or the note that all attempts are used up. Undefined: it stores nothing.
 * @param refreshing whether an old result is there, which is better than an error
 * @throws LockError `LOCK_INVALID` if `keepError` fails
 */
export function failed(
  plan: MemoPlan,
  error: unknown,
  attempts: number,
  refreshing: boolean,
  max: number,
): NewValue | undefined {
  const keep = !refreshing && plan.keepError(error);
  if (keep !== false) return errorValue(plan, 'failed', error, keep, max);
  return attempts >= plan.attempts && !refreshing ? errorValue(plan, 'poisoned', error, plan.rest, max) : undefined;
}

/** What is stored if the process of the last attempt died or lost its lease. The text is not sealed: it has no secret, and a seal may throw. */
export const usedUp = (plan: MemoPlan): NewValue =>
  errorValue(
    { ...plan, seal: undefined, terms: { ...plan.terms, label: 'a process that died or lost its lease' } },
    'poisoned',
    new Error('it ended without a word'),
    plan.rest,
    Number.POSITIVE_INFINITY,
  );

function errorValue(
  { match, seal, terms: { label: by } }: MemoPlan,
  kind: 'failed' | 'poisoned',
  error: unknown,
  ttl: number,
  max: number,
): NewValue {
  const body = (of: unknown): string => errorBody(of, { by, ttl });
  const value = (text: string): NewValue => ({ text, ttl, ageless: true });
  try {
    return value(written({ kind, match, body: body(error) }, seal, max));
  } catch (refused) {
    const why = new Error(`its error cannot be kept: ${(refused as RefusedValue).kind}`);
    return value(writeEntry({ kind, match, body: body(why) }, undefined));
  }
}

/** For the caller whose function ran: whether its value is kept for others, and if not, the error that says why. @param loss the error of a lost lease */
export function forOthers(
  became: StoreOutcome,
  loss: LockError | undefined,
): Pick<MemoResult<unknown>, 'kept' | 'error'> {
  if (became === 'stored') return { kept: true };
  const error = typeof became === 'object' ? became.refused : loss;
  return { kept: became === 'unknown' && became, ...(error && { error }) };
}
