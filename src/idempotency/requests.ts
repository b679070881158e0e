import { hash } from 'node:crypto';
import { checkKey, invalid, isLockError, shown } from '../core/index.ts';
import type { Locks } from '../locks.ts';
import { comparable } from '../memo/match.ts';
import type { MemoRun } from '../memo/memo.ts';
import { type Answer, keyIn, REPLAYED, refusalFor } from './answer.ts';
import { type IdempotencyOptions, idempotencyPlan } from './options.ts';

/** The used parts of a request, in one form for all frameworks. */
export interface KeyedRequest {
  readonly method: string;
  /** Path and query: `/payments?draft=1`. */
  readonly url: string;
  /** The header `Idempotency-Key`. */
  readonly key: unknown;
  /** Whether there is a body that no parser has read. */
  readonly isUnread?: boolean;
  /** The parsed body, by which requests are compared. */
  body(): unknown;
}

/** `pass`: run the handler without protection. `ran`: the handler ran and has answered. An `Answer`: send it, and run nothing. */
export type Outcome = 'pass' | 'ran' | Answer;

/** Runs the handler. It gives undefined if there is no whole answer; then nothing is kept. */
export type Handler = (run: MemoRun) => Promise<Answer | undefined>;

/** Handles one request. It rejects with what the handler throws, and with `LOCK_INVALID` for a bad scope or body. */
export type RequestHandling<R> = (request: R, asked: KeyedRequest, handler: Handler) => Promise<Outcome>;

/** @throws LockError `LOCK_INVALID`; `LOCK_UNSUPPORTED` if the engine cannot keep answers */
export function requestsOf<R>(locks: Locks, options: IdempotencyOptions<R>): RequestHandling<R> {
  if (typeof locks?.memo !== 'function') throw invalid(`idempotency() needs Locks, not ${shown(locks)}`);
  const { scope, methods, required, keepStatus, whenDown, type, memo } = idempotencyPlan(options);
  locks.memo('idempotency', memo); // wrong options throw now, not at the first request

  return async (request, asked, handler) => {
    const { method, url } = asked;
    if (!methods.has(method) || (asked.key === undefined && !required)) return 'pass';
    const key = keyIn(asked.key);
    if (key === undefined) return refusalFor(asked.key === undefined ? 'missing' : 'malformed', type);
    if (asked.isUnread) return refusalFor('unread', type);
    const [path, query] = url.split(/\?(.*)/s);
    const owner = hash('sha256', JSON.stringify([checkKey(scope(request), 'scope'), method, path]), 'base64url');
    const match = comparable([query, await asked.body()], 'request', false, (why) => invalid(`a request ${why}`));
    let handled: Promise<Answer | undefined> | undefined;
    try {
      const { value, ran } = await locks.memo(`idempotency:${key}:${owner}`, { ...memo, match }).run(async (run) => {
        handled = handler(run);
        const answer = await handled;
        if (answer && keepStatus(answer.status)) return answer;
        throw new Error('this answer is for its own caller alone');
      });
      return ran ? 'ran' : { ...value, headers: { ...value.headers, [REPLAYED]: 'true' } };
    } catch (error) {
      if (handled) return handled.then(() => 'ran'); // the client gets the answer even if it could not be kept
      if (whenDown === 'run' && isLockError(error, 'LOCK_UNAVAILABLE')) return 'pass';
      return refusalFor(error, type);
    }
  };
}
