import { EXCLUSIVE } from '../core/contract/admission.ts';
import type { Leave, Left, Remembered } from '../core/contract/backend.ts';
import { passedFor } from '../core/contract/clock.ts';
import { isLockError } from '../core/contract/errors.ts';
import type { WordsLeft } from '../core/contract/left.ts';
import type { HeldLease } from '../core/holds/held-lease.ts';
import { Frame } from '../core/line/frame.ts';
import type { LockRuntime } from '../core/line/runtime.ts';
import { type Caller, whenAt } from './caller.ts';
import { WaitingCallers } from './callers.ts';
import { checkMatch, MemoInquiry } from './inquiry.ts';
import { OldResult } from './old-result.ts';
import type { MemoPlan } from './options.ts';
import { failed, forOthers, succeeded, usedUp } from './outcome.ts';
import { FlightRun } from './run.ts';
import { stateOf } from './state.ts';
import { readStored } from './words.ts';

interface Runner {
  readonly caller: Caller;
  readonly lease: HeldLease;
  readonly run: FlightRun;
  readonly tries: number;
  /** The result that it refreshes. */
  readonly old: OldResult | undefined;
}

/** All callers of one key in this process, who share one claim, until each has its result. */
export class Flight {
  readonly #runtime: LockRuntime;
  readonly #plan: MemoPlan; // of its first caller
  readonly #callers: WaitingCallers;
  #runner: Runner | undefined;
  readonly #answers: { count: number }; // of the engine
  #old: OldResult | undefined; // for the first caller: one that comes later looks for itself
  /** Ends the claim when the last caller has given up. */
  #claimEnd = new AbortController();

  /**
   * @param head the first caller, to whom no result that is there will do
   * @param looked what is there, if the engine told: a result that is due for a refresh
   * @param onEnd called in the turn in which it has no callers, and nobody runs: later, one may join in vain
   */
  constructor(runtime: LockRuntime, head: Caller, looked: Remembered | undefined, onEnd: () => void) {
    this.#runtime = runtime;
    if (looked?.left) this.#old = new OldResult(looked.left, runtime.engine.clock);
    this.#answers = { count: looked ? 1 : 0 };
    this.#callers = new WaitingCallers(head.plan.key, () => {
      if (!this.#runner) onEnd();
    });
    this.#plan = head.plan;
    this.#wait(head);
  }

  /** Whether it makes a new result, while the old one serves all others. */
  get refreshes(): boolean {
    return this.#old !== undefined;
  }

  /** @param looked what the engine told this caller, if it looked @throws LockError `LOCK_MISMATCH` */
  add(caller: Caller, looked: Remembered | undefined): void {
    checkMatch(caller.plan, this.#plan.match, this.#runtime.engine.backend.name);
    if (looked?.left) {
      this.#callers.add(caller);
      this.#callers.answer(looked.left, [caller]);
    } else if (caller.wait === 0) caller.reject(caller.timedOut());
    else this.#wait(caller);
  }

  #wait(caller: Caller): void {
    this.#callers.add(caller);
    const heard = (): boolean => this.#answers.count > 0;
    caller.startLimits((error) => this.#giveUp(caller, error), heard);
  }

  /** Serves its callers until none is left. Never rejects. */
  async fly(): Promise<void> {
    for (let head = this.#callers.first; head; head = this.#callers.first) {
      this.#claimEnd = new AbortController();
      try {
        await this.#serve(head);
      } catch (error) {
        this.#refuse(error);
      }
      this.#old = undefined;
    }
    this.#callers.tellIfEmpty();
  }

  #giveUp(caller: Caller, error: unknown): void {
    if (this.#callers.remove(caller)) caller.reject(error);
    if (this.#callers.size > 0) return;
    if (!this.#runner) this.#claimEnd.abort();
    else if (this.#runner.caller.signal?.aborted) this.#runner.run.abort(this.#runner.caller.signal.reason);
  }

  #refuse(error: unknown): void {
    if (this.#claimEnd.signal.aborted) return; // the last caller gave up, and others may have come since then
    const old = this.#old?.left;
    if (old && !isLockError(error, 'LOCK_CLOSED')) this.#callers.answer(old);
    else this.#callers.serve((caller) => caller.reject(error));
  }

  async #serve(head: Caller): Promise<void> {
    const old = this.#old?.left;
    const { name } = this.#runtime.engine.backend;
    const inquiry = new MemoInquiry(head.plan, name, oldest(head, old !== undefined), this.#answers);
    const wait = head.wait === 0 || old ? 0 : Number.POSITIVE_INFINITY;
    const terms = { ...head.plan.terms, wait, signal: this.#claimEnd.signal, inquiry };
    const lease = await this.#runtime.take(this.#plan.key, EXCLUSIVE, terms);
    const { left } = inquiry;
    if (lease) await this.#run(lease, inquiry.tries);
    else if (left) this.#callers.answer(left, answered(this.#callers.all, left, inquiry.sent));
    else if (old) this.#callers.answer(old, [head]);
    else this.#callers.serve((caller) => caller.reject(caller.timedOut()), [head]);
  }

  /** @returns when the run is over, or has lost its lease: nothing of it is kept then, and the other callers stand in line again */
  async #run(lease: HeldLease, tries: number): Promise<unknown> {
    const caller = this.#callers.first;
    if (!caller) return lease.release();
    if (tries > caller.plan.attempts)
      // An old result is worth more than an error, and the next attempt finds it.
      return this.#old?.left ? lease.release() : this.#leave(lease, usedUp(caller.plan));
    this.#callers.remove(caller);
    caller.begins();
    const runner = { caller, lease, run: new FlightRun(lease), tries, old: this.#old };
    this.#runner = runner;
    const { promise: over, resolve } = Promise.withResolvers<void>();
    lease.hold.life.onLoss(() => {
      this.#land(runner);
      resolve();
    });
    void this.#perform(runner).then(resolve);
    return over;
  }

  /** Never rejects. */
  async #perform(runner: Runner): Promise<void> {
    const { caller, lease, run } = runner;
    try {
      const value = await caller.inContext(() => new Frame(this.#runtime, lease).run(caller.fn, run));
      await this.#succeeded(runner, value);
    } catch (error) {
      await this.#failed(runner, error);
    }
  }

  async #succeeded(runner: Runner, value: unknown): Promise<void> {
    const { caller, lease } = runner;
    const { backend, clock } = this.#runtime.engine;
    const { leave, error } = caller.inContext(() => succeeded(caller.plan, value, backend.traits.leaves!.max));
    const became = await this.#leave(lease, leave, runner, caller.plan.keep > 0 ? undefined : this.#callers.all);
    const others = forOthers(became, error, lease.hold.life.loss);
    caller.resolve({ value, ran: true, token: lease.token!, at: whenAt(clock, 0), ...others });
  }

  /** The runner has its own error, also if the words cannot be left; while an old result is there, it has that, as all others do. */
  async #failed(runner: Runner, error: unknown): Promise<void> {
    const { caller, lease, tries, old } = runner;
    try {
      const leave = caller.inContext(() => failed(caller.plan, error, tries, old?.left !== undefined));
      if (leave) await this.#leave(lease, leave, runner);
    } catch (cause) {
      if (isLockError(cause) && this.#runner === runner) this.#callers.serve((other) => other.reject(cause));
    } finally {
      await lease.release();
      this.#land(runner);
      const left = old?.left;
      if (left) {
        lease.hold.owner?.events.tell('refreshFailed', lease.token, { error });
        caller.settle(left, readStored(left.text, this.#plan.key));
      } else caller.reject(error);
    }
  }

  /** Leaves words for `callers`, or for all that wait by then. */
  async #leave(lease: HeldLease, leave: Leave, runner?: Runner, callers?: readonly Caller[]): Promise<WordsLeft> {
    const became = await lease.releaseWith(leave, stateOf(leave.text));
    this.#land(runner);
    if (became === 'left') this.#callers.answer(asLeft(leave, lease.token!), callers);
    return became;
  }

  /** The run is over, before its caller is told: that one may come again at once. */
  #land(runner: Runner | undefined): void {
    if (this.#runner === runner) this.#runner = undefined;
    this.#callers.tellIfEmpty();
  }
}

/** What was left just now. */
const asLeft = ({ text, ttl }: Leave, ticket: bigint): Left => ({ text, ticket, age: 0, validFor: ttl });

/** The age of the oldest result that a caller takes, ms, by the time at which its attempt is sent. */
function oldest({ plan: { keep, refresh }, began }: Caller, refreshing: boolean): (sent: number) => number {
  if (refreshing) return () => refresh;
  return keep > 0 ? () => Number.POSITIVE_INFINITY : (sent) => passedFor(sent - began);
}

/** The callers that waited when the words were left; all, where the words count for longer. */
const answered = (callers: readonly Caller[], { age }: Left, sent: number): Caller[] =>
  callers.filter(({ plan, began }) => plan.keep > 0 || (began <= sent && age <= passedFor(sent - began)));
