import type { Edit } from '../mutants.ts';
import type { MemoCheckerName } from './checkers.ts';

/** Memos with one planted bug, and the checker that must find it. */
export interface MemoMutant extends Edit {
  readonly bug: string;
  readonly foundBy: MemoCheckerName;
}

export const MEMO_MUTANTS: readonly MemoMutant[] = [
  {
    bug: 'begins again what is poisoned, where no result is kept',
    file: 'memo/outcome.ts',
    sound: 'ttl, ageless: true }',
    broken: 'ttl }',
    foundBy: 'attempts',
  },
  {
    bug: 'counts no run that ended in a death',
    file: 'memo/decisions.ts',
    sound: 'if (attempts <= plan.attempts)',
    broken: 'if (attempts <= 1_000)',
    foundBy: 'attempts',
  },
  {
    bug: 'trusts that another machine counts time as it does',
    file: 'core/contract/clock.ts',
    sound: 'Math.max(0, ms * PART - ROUNDING)',
    broken: 'ms',
    foundBy: 'onlyWaiters',
  },
  {
    bug: 'gives a result to callers that came after it',
    file: 'memo/decisions.ts',
    sound: '(caller.plan.keep > 0 || caller.began <= sent) && isAnswer(value, maxAge(caller, sent))',
    broken: 'caller.plan.keep > 0 || value.age <= sent',
    foundBy: 'onlyWaiters',
  },
  {
    bug: 'takes a refused release for one that left the words',
    file: 'core/queue/release-with.ts',
    sound: "if (isLockError(error) && (!unanswered || error.code !== 'LOCK_UNAVAILABLE')) throw error;",
    broken: "if (isLockError(error)) return 'left';",
    foundBy: 'oneResult',
  },
  {
    bug: 'does not ask again after a release without an answer',
    file: 'core/queue/release-with.ts',
    sound: 'if (clock.now() + pause >= timing.deadline || activity.over)',
    broken: "if (unanswered) return 'left';\n    if (clock.now() + pause >= timing.deadline || activity.over)",
    foundBy: 'oneResult',
  },
  {
    bug: 'does not ask once more when it begins to listen',
    file: 'core/engine/listener.ts',
    sound: 'if (claim.accepts) this.#distrusts = true;',
    broken: '',
    foundBy: 'promptness',
  },
  {
    bug: 'lets the wait of a caller end while its own function runs',
    file: 'memo/shared-run.ts',
    sound: '    waiting.remove(caller);\n    caller.begins();\n',
    broken: '',
    foundBy: 'values',
  },
  {
    bug: 'passes a run on to the next caller of the process, as a lock does',
    file: 'memo/shared-run.ts',
    sound: '    caller.begins();\n',
    broken: '    caller.begins();\n    for (const next of waiting.all.slice(0, 1)) void next.fn(lease as never);\n',
    foundBy: 'exclusion',
  },
  {
    bug: 'lets a caller share a look that was sent before its process forgot the key',
    file: 'memo/shared-runs.ts',
    sound: '    this.#looks.delete(key);\n    this.#runs.delete(key);',
    broken: '    this.#runs.delete(key);',
    foundBy: 'forgotten',
  },
];
