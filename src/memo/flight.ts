import {
  EXCLUSIVE,
  type HeldLease,
  isLockError,
  type LockError,
  type LockRuntime,
  NO_MARK,
  UNANSWERED,
  type ValueRecord,
} from '../core/index.ts';
import type { Caller } from './caller.ts';
import { WaitingCallers } from './callers.ts';
import { checkMatch, differ, MemoInquiry } from './inquiry.ts';
import { answered, oldest } from './lasting.ts';
import { OldResult } from './old-result.ts';
import { usedUp } from './outcome.ts';
import { leaveWords, Runner } from './runner.ts';
import { Trouble } from './trouble.ts';

/** All callers of one key in this process, who share one claim, until each has its result. */
export class Flight {
  readonly #runtime: LockRuntime;
  readonly #key: string;
  readonly #callers: WaitingCallers;
  #runner: Runner | undefined;
  readonly #trouble: Trouble;
  /** The mark of the run that its callers wait for: one of another request is told so at once. */
  #mark = NO_MARK;
  #old: OldResult | undefined; // for the first caller: one that comes later looks for itself
  /** Ends the claim when the last caller has given up. */
  #claimEnd = new AbortController();

  /**
   * @param head the first caller, to whom no result that is there will do
   * @param looked what is there, if the engine told: a result that is due for a refresh
   * @param onEnd called in the turn in which it has no callers, and nobody runs: later, one may join in vain
   */
  constructor(runtime: LockRuntime, head: Caller, looked: ValueRecord | undefined, onEnd: () => void) {
    this.#runtime = runtime;
    if (looked?.value) this.#old = new OldResult(looked.value, runtime.engine.clock);
    this.#key = head.plan.key;
    this.#callers = new WaitingCallers(this.#key, () => {
      if (!this.#runner) onEnd();
    });
    const isUnanswered = !looked && head.plan.keep > 0; // it has looked
    this.#trouble = new Trouble(runtime.engine, this.#callers, looked !== undefined, isUnanswered);
    this.#wait(head);
  }

  /** Whether it makes a new result, while the old one serves all others. */
  get refreshes(): boolean {
    return this.#old !== undefined;
  }

  /** @throws LockError `LOCK_MISMATCH` */
  check({ plan }: Caller): void {
    checkMatch(plan, this.#mark, this.#runtime.engine.backend.name);
  }

  /** @param looked what the engine told this caller, if it looked @throws LockError `LOCK_MISMATCH` */
  add(caller: Caller, looked: ValueRecord | undefined): void {
    this.check(caller);
    if (looked?.value) {
      this.#callers.add(caller);
      this.#callers.answer(looked.value, [caller]);
    } else if (caller.wait === 0) caller.reject(caller.timedOut());
    else this.#wait(caller);
  }

  #wait(caller: Caller): void {
    this.#callers.add(caller);
    caller.startLimits(
      (error) => this.#giveUp(caller, error),
      () => this.#trouble.heard,
    );
  }

  /** Serves its callers until none is left. Never rejects. */
  async fly(): Promise<void> {
    for (let head = this.#callers.first; head; head = this.#callers.first) {
      this.#claimEnd = new AbortController();
      try {
        await this.#serve(head);
      } catch (error) {
        this.#refuse(head, error);
      }
      this.#old = undefined;
    }
    this.#callers.tellIfEmpty();
  }

  /** Ends all waits. What runs goes on. */
  close(error: LockError): void {
    this.#callers.serve((caller) => caller.reject(error));
  }

  #giveUp(caller: Caller, error: unknown): void {
    if (this.#callers.remove(caller)) caller.reject(error);
    if (this.#callers.size > 0) return;
    if (!this.#runner) this.#claimEnd.abort();
    else if (this.#runner.caller.signal?.aborted) this.#runner.run.abort(this.#runner.caller.signal.reason);
  }

  /** Callers of another request than the head go on: they may be right. */
  #refuse(head: Caller, error: unknown): void {
    const { aborted, reason } = this.#claimEnd.signal;
    if (aborted) {
      if (reason === UNANSWERED) this.#trouble.begin(this.#key, head);
      return; // else the last caller gave up, and others may have come since then
    }
    const old = this.#old?.left;
    if (old && !isLockError(error, 'LOCK_CLOSED')) this.#callers.answer(old);
    else if (isLockError(error, 'LOCK_MISMATCH')) this.#callers.serve((caller) => caller.reject(error), [head]);
    else if (isLockError(error, 'LOCK_UNAVAILABLE') && (head.wait === 0 || this.#trouble.isTooLong(head)))
      this.#trouble.begin(this.#key, head, error);
    else this.#callers.serve((caller) => caller.reject(error));
  }

  /** Tells those that are of another request than the run they would wait for. @param head hears it from its claim */
  #hear(mark: string, head?: Caller): void {
    this.#mark = mark;
    this.#callers.refuseOthers(mark, this.#runtime.engine.backend.name, head);
  }

  async #serve(head: Caller): Promise<void> {
    const old = this.#old?.left;
    const { name } = this.#runtime.engine.backend;
    const age = old ? () => head.plan.refresh : oldest(head);
    const inquiry = new MemoInquiry(head.plan, name, age, (mark) => {
      this.#trouble.end();
      this.#hear(mark, head);
    });
    const wait = head.wait === 0 || old ? 0 : Number.POSITIVE_INFINITY;
    const terms = { ...head.plan.terms, wait, signal: this.#claimEnd.signal, inquiry };
    const endLimit = this.#trouble.limit(head, this.#claimEnd);
    const lease = await this.#runtime.take(this.#key, EXCLUSIVE, terms).finally(endLimit);
    const { left } = inquiry;
    if (lease) await this.#run(lease, head.plan.match, inquiry.attempts);
    else if (left) this.#callers.answer(left, answered(this.#callers.all, left, inquiry.sent));
    else if (old) this.#callers.answer(old, [head]);
    else this.#callers.serve((caller) => caller.reject(caller.timedOut()), [head]);
  }

  async #run(lease: HeldLease, match: string, attempts: number): Promise<unknown> {
    // The head may have given up, and others see the mark of its request.
    const caller = this.#callers.all.find(({ plan }) => !differ(plan.match, match));
    if (!caller) return lease.release();
    if (attempts > caller.plan.attempts) {
      if (this.#old?.left) return lease.release(); // it is worth more than an error, and the next attempt finds it
      const onEnd = (isUnanswered: boolean): unknown => isUnanswered && this.#trouble.begin(this.#key);
      return leaveWords(lease, usedUp(caller.plan), this.#callers, onEnd);
    }
    this.#callers.remove(caller);
    caller.begins();
    const onEnd = (isUnanswered: boolean): void => {
      this.#runner = undefined;
      this.#mark = NO_MARK;
      if (isUnanswered) this.#trouble.begin(this.#key);
      this.#callers.tellIfEmpty();
    };
    const facts = { attempts, old: this.#old, waiting: this.#callers, onEnd };
    this.#runner = new Runner(this.#runtime, lease, caller, facts);
    this.#hear(caller.plan.match);
    return this.#runner.fly();
  }
}
