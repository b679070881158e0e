import { hash } from 'node:crypto';
import { checkKey, invalid, isLockError, shown } from '../core/index.ts';
import type { Locks } from '../locks.ts';
import { comparable } from '../memo/match.ts';
import type { MemoRun } from '../memo/memo.ts';
import { type Answer, keyIn, REPLAYED, refusalFor } from './answer.ts';
import { type IdempotencyOptions, type IdempotencyPlan, idempotencyPlan } from './options.ts';

/** A request, as far as this is about it. */
export interface KeyedRequest {
  readonly method: string;
  /** Path and query: `/payments?draft=1`. */
  readonly url: string;
  /** The header `Idempotency-Key`. */
  readonly key: unknown;
  /** The body as parsed, by whose content requests are compared. */
  body(): unknown;
  /** There is a body, and nothing has read it. */
  readonly isUnread?: boolean;
}

/** Runs the handler. Undefined: it gave no whole answer, and nothing is kept. */
export type Handler = (run: MemoRun) => Promise<Answer | undefined>;

/** Ends a run whose answer is for its own caller alone. */
class NotKept extends Error {}

/** The requests of routes that have one set of options. */
export class Requests<R> {
  readonly #locks: Locks;
  readonly #plan: IdempotencyPlan<R>;

  /** @throws LockError `LOCK_INVALID`; `LOCK_UNSUPPORTED` where no answer can be kept */
  constructor(locks: Locks, options: IdempotencyOptions<R>) {
    if (typeof locks?.memo !== 'function') throw invalid(`idempotency() needs Locks, not ${shown(locks)}`);
    this.#locks = locks;
    this.#plan = idempotencyPlan(options);
    locks.memo('idempotency', this.#plan.memo); // checks its options now, where they were written
  }

  /**
   * What to do with a request. `pass`: run the handler without protection. `ran`: the handler ran, and what it answered goes to the client.
   * Else the answer to send.
   * @throws LockError `LOCK_INVALID` for a scope that is no text, or a body that cannot be compared; what `handle` throws
   */
  async answer(request: R, asked: KeyedRequest, handle: Handler): Promise<'pass' | 'ran' | Answer> {
    const { methods, required, type } = this.#plan;
    if (!methods.has(asked.method) || (asked.key === undefined && !required)) return 'pass';
    const key = keyIn(asked.key);
    if (asked.isUnread) return refusalFor('unread', type)!;
    if (key === undefined) return refusalFor(asked.key === undefined ? 'missing' : 'malformed', type)!;
    return this.#once(this.#nameOf(request, asked, key), await this.#matchOf(asked), handle);
  }

  /** Readable at its beginning, and of one caller and route by its end. */
  #nameOf(request: R, { method, url }: KeyedRequest, key: string): string {
    const scope = checkKey(this.#plan.scope(request), 'scope');
    const [path] = url.split('?');
    return `idempotency:${key}:${hash('sha256', JSON.stringify([scope, method, path, key]), 'base64url')}`;
  }

  async #matchOf({ url, body }: KeyedRequest): Promise<string> {
    const [, query] = url.split(/\?(.*)/s);
    return comparable([query, await body()], 'request', false, (why) => invalid(`a request ${why}`));
  }

  async #once(name: string, match: string, handle: Handler): Promise<'pass' | 'ran' | Answer> {
    const { keepStatus, whenDown, type, memo } = this.#plan;
    let handled: Promise<Answer | undefined> | undefined;
    try {
      const { value, ran } = await this.#locks.memo(name, { ...memo, match }).run(async (run) => {
        handled = handle(run);
        const answer = await handled;
        if (answer && keepStatus(answer.status)) return answer;
        throw new NotKept();
      });
      return ran ? 'ran' : { ...value, headers: { ...value.headers, [REPLAYED]: 'true' } };
    } catch (error) {
      if (handled) return handled.then(() => 'ran'); // whatever became of its answer, its own caller gets it
      if (whenDown === 'run' && isLockError(error, 'LOCK_UNAVAILABLE')) return 'pass';
      const refusal = refusalFor(error, type);
      if (refusal) return refusal;
      throw error;
    }
  }
}
