import type { Attempt } from '../../core/contract/backend.ts';
import { isLockError, LockError } from '../../core/contract/errors.ts';
import type { QuorumContext } from './context.ts';
import type { NodeAnswer } from './node-answer.ts';

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
