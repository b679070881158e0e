import type { Subject, Timing } from '../../../products/testing/index.ts';
import type { Fleet, Library } from './fleet.ts';

/** Clients of these libraries in turn. */
export const subjectOf = (
  name: string,
  fleet: () => Fleet,
  libraries: readonly Library[],
  timing?: Timing,
): Subject => {
  let opened = 0;
  const next = (): Library => libraries[opened++ % libraries.length]!;
  const prefix = name.replaceAll(' ', '-');
  return {
    name,
    timing,
    open: () => fleet().backend(next(), { prefix }),
    apart: () => fleet().backend(next(), { prefix: `${prefix}:apart` }),
  };
};
