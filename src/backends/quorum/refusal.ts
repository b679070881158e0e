import type { Attempt } from '../../core/backend.ts';
import { isLockError, LockError } from '../../core/errors.ts';
import type { QuorumContext } from './context.ts';
import type { NodeAnswer } from './node-answer.ts';

/**
 * What a lost vote means: refused, where so many nodes answered that the others could not have changed it.
 * @throws LockError when too many nodes will never vote for it; else, where too many did not answer, an error that names
 * each node and what it said
 */
export function refusalOf(key: string, { nodes, majority }: QuorumContext, said: readonly NodeAnswer[]): Attempt {
  const silent = said.flatMap((each) => (each.kind === 'no' && each.why instanceof Error ? [each.why] : []));
  const late = said.filter((each) => each.kind === 'no' && each.why === 'late').length;
  const misuse = silent.find((why) => isLockError(why, 'LOCK_INVALID'));
  if (misuse) throw misuse;
  if (nodes.length - silent.length >= majority) return late > 0 ? { granted: false, late: true } : { granted: false };
  const story = said.map((each, i) => `${nodes[i]!.title} ${wordOf(each)}`).join('; ');
  const message = `${nodes.length - silent.length} of ${nodes.length} nodes answered, ${majority} are needed: ${story}`;
  const cause = new AggregateError(silent, message);
  const definite = silent.filter((why) => isLockError(why)).length;
  if (nodes.length - definite >= majority) throw cause;
  throw new LockError('LOCK_UNAVAILABLE', message, { key, backend: 'quorum', cause });
}

function wordOf(said: NodeAnswer): string {
  if (said.kind === 'yes') return 'granted it';
  if (said.kind === 'open') return 'has not answered yet';
  if (typeof said.why === 'string') return said.why === 'late' ? 'was asked too late' : 'refused';
  return said.why.message.length > 200 ? `${said.why.message.slice(0, 199)}…` : said.why.message;
}
