import type { Finding } from '../../core/index.ts';

/** A finding of a check, as data: which facts show the danger, and the message about it. */
export interface Danger<Facts> extends Omit<Finding, 'message'> {
  readonly when: (facts: Facts) => boolean;
  readonly message: string | ((facts: Facts) => string);
}

export const findingsOf = <Facts>(dangers: readonly Danger<Facts>[], facts: Facts): Finding[] =>
  dangers
    .filter(({ when }) => when(facts))
    .map(({ when: _, message, ...finding }) => ({
      ...finding,
      message: typeof message === 'string' ? message : message(facts),
    }));
