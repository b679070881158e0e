import type { History, OperationWithHold } from '../../products/torture/history.ts';
import { isExclusive } from '../../src/core/index.ts';

/** One operation for the judge that is not ours: see `step` in main.go. Times are whole µs. */
export interface Step {
  readonly kind: 'grant' | 'seen' | 'end' | 'claim' | 'write';
  readonly key: string;
  readonly claim: number;
  readonly units: number;
  readonly capacity: number;
  readonly token: string;
  readonly accepted: boolean;
  readonly call: number;
  readonly return: number;
}

/** As many digits as a token of 64 bits has. */
const DIGITS = 20;

const micros = (ms: number): number => Math.min(Math.round(ms * 1_000), Number.MAX_SAFE_INTEGER);

/**
 * A history as operations of which each took effect at one moment between `call` and `return`. A hold was granted after it was asked for,
 * was seen while it lasted, and ended no sooner than its process stopped believing in it. Only exclusive holds have tokens in one order.
 */
export function stepsOf(history: History): Step[] {
  const held = [...history.operations.values()].filter((each): each is OperationWithHold => each.hold !== undefined);
  return held.flatMap((operation, claim): Step[] => {
    const { key, units, capacity, asked, hold } = operation;
    const judged = isExclusive(operation) && hold.token !== undefined;
    const token = judged ? String(hold.token).padStart(DIGITS, '0') : '';
    const step = (kind: Step['kind'], from: number, to: number, accepted = true): Step => ({
      ...{ kind, key, claim, units, capacity, token, accepted },
      ...{ call: micros(from), return: micros(to) },
    });
    const ended = Math.max(hold.until, hold.freed ?? Number.POSITIVE_INFINITY);
    return [
      step('grant', asked, hold.from),
      step('seen', hold.before, hold.from),
      step('end', hold.until, ended),
      ...(judged && hold.claimed !== undefined ? [step('claim', hold.claimed, hold.claimed)] : []),
      ...(judged ? hold.writes.map(({ at, accepted }) => step('write', at, at, accepted)) : []),
    ];
  });
}
