import type { Decoder } from './jute.ts';
import type { Operation } from './operations.ts';

const MULTI = 14;
const ERROR = -1;

/** The step of a transaction that the server refused. Then none of its steps has an effect. */
export interface RefusedStep {
  readonly index: number;
  readonly code: number;
}

/** Several writes in one transaction, in their order. The answer is undefined, or the step for which it was refused. */
export const multi = (steps: readonly Operation<unknown>[]): Operation<RefusedStep | undefined> => ({
  name: 'multi',
  code: MULTI,
  viaLeader: true,
  encode(into) {
    for (const step of steps) {
      into.int(step.code).bool(false).int(-1);
      step.encode(into, false);
    }
    into.int(-1).bool(true).int(-1);
  },
  decode(from) {
    const codes = steps.map((step) => outcomeOf(step, from));
    const index = codes.findIndex((code) => code < 0);
    return index < 0 ? undefined : { index, code: codes[index]! };
  },
});

/** 0, or below 0 if the server refused this step, or any step before it. */
function outcomeOf(step: Operation<unknown>, from: Decoder): number {
  const type = from.int();
  from.bool();
  from.int();
  if (type === ERROR) return from.int();
  step.decode(from);
  return 0;
}
