import type { Step } from '../step.ts';

/** What steps name, so that a store reads only that. */
export function named(steps: readonly Step[]): {
  ids: string[];
  buyers: string[];
  opens: boolean;
  tally: (Step & { op: 'tally' }) | undefined;
} {
  const counted = (step: Step): step is Step & { readonly buyer: string } =>
    'buyer' in step && step.buyer !== '' && (step.op === 'find' || step.limit > 0);
  const buyers = steps.filter(counted).map(({ buyer }) => buyer);
  return {
    ids: [...new Set(steps.flatMap((step) => ('id' in step ? [step.id] : [])))],
    buyers: [...new Set(buyers)],
    opens: steps.some(({ op }) => op === 'open'),
    tally: steps.find((step) => step.op === 'tally'),
  };
}
