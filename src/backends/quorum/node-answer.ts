import type { Attempt } from '../../core/contract/backend.ts';
import { shown } from '../../core/contract/errors.ts';

/** The answer of one node. If `mayHold` is true, the node may hold a part of this claim, which has to be released. */
export type NodeAnswer =
  | { readonly kind: 'open' }
  | {
      readonly kind: 'yes';
      readonly token: bigint;
      /** How many consecutive tokens the node gave. */
      readonly tokenCount: number;
      readonly until: number;
      readonly lost?: AbortSignal | undefined;
    }
  | { readonly kind: 'no'; readonly why: 'refused' | 'late' | Error; readonly mayHold: boolean };

export const OPEN: NodeAnswer = { kind: 'open' };
export const UNASKED: NodeAnswer = { kind: 'no', why: new Error('was not asked'), mayHold: false };
export const REFUSED: NodeAnswer = { kind: 'no', why: 'refused', mayHold: false };
export const LATE: NodeAnswer = { kind: 'no', why: 'late', mayHold: false };

/** Makes the answer of a node that failed: it is unknown whether the node admitted the claim. */
export const noOf = (why: unknown): NodeAnswer => ({
  kind: 'no',
  why: why instanceof Error ? why : new Error(String(why)),
  mayHold: true,
});

/** True if the node may still hold the claim: the node says so, or its answer is unknown. */
export const mayKeep = (answer: NodeAnswer): boolean => answer.kind !== 'no' || answer.mayHold;

/** Gives the signal that aborts when the vote is lost; undefined if the node cannot tell. */
export const lostOf = (answer: NodeAnswer): AbortSignal | undefined =>
  answer.kind === 'yes' ? answer.lost : undefined;

/** Says what is wrong with an answer to an attempt, of a backend that a user wrote; undefined if nothing is. */
export function flawOf(answer: Attempt | undefined): string | undefined {
  if (typeof answer?.granted !== 'boolean')
    return `it answers an attempt with ${shown(answer)}, which is no grant and no refusal`;
  if (!answer.granted) return undefined;
  if (typeof answer.token !== 'bigint') return `it grants with the token ${shown(answer.token)}, which is no bigint`;
  return answer.validFor > 0 ? undefined : `it grants for ${shown(answer.validFor)} ms`;
}
