import { type Attempt, isLockError, LockError, shown } from '../../core/index.ts';
import type { QuorumContext } from './node.ts';

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

/**
 * Explains why a ballot was lost. The claim is refused if so many nodes answered that the others could not have changed the outcome.
 * @throws LockError if too many nodes will never vote. If too many nodes cannot vote for now, the error names each node and its
 * answer. A node that may still answer is not counted as failed
 */
export function refusalOf(key: string, { nodes, majority }: QuorumContext, answers: readonly NodeAnswer[]): Attempt {
  const failed = answers.flatMap((each) => (each.kind === 'no' && each.why instanceof Error ? [each.why] : []));
  const late = answers.filter((each) => each.kind === 'no' && each.why === 'late').length;
  const misuse = failed.find((why) => isLockError(why, 'LOCK_INVALID'));
  if (misuse) throw misuse;
  if (nodes.length - failed.length >= majority) return late > 0 ? { granted: false, late: true } : { granted: false };
  const story = answers.map((each, i) => `${nodes[i]!.title}${wordsFor(each)}`).join('; ');
  const message = `${failed.length} of ${nodes.length} nodes cannot vote, and ${majority} votes are needed: ${story}. Bring back the nodes that are down; check() looks at each`;
  const cause = new AggregateError(failed, message);
  const definite = failed.filter((why) => isLockError(why)).length;
  if (nodes.length - definite >= majority) throw cause;
  throw new LockError('LOCK_UNAVAILABLE', message, { key, backend: 'quorum', cause });
}

function wordsFor(answer: NodeAnswer): string {
  if (answer.kind === 'yes') return ' granted it';
  if (answer.kind === 'open') return ' has not answered yet';
  if (typeof answer.why === 'string') return answer.why === 'late' ? ' was asked too late' : ' refused it';
  const { message } = answer.why;
  return `: ${message.length > 200 ? `${message.slice(0, 199)}…` : message}`;
}
