import { EXCLUSIVE } from '../core/contract/admission.ts';
import type { Leave, Left, Remembered } from '../core/contract/backend.ts';
import { passedFor } from '../core/contract/clock.ts';
import { isLockError } from '../core/contract/errors.ts';
import type { HeldLease } from '../core/holds/held-lease.ts';
import { Frame } from '../core/line/frame.ts';
import type { LockRuntime } from '../core/line/runtime.ts';
import type { Caller } from './caller.ts';
import { WaitingCallers } from './callers.ts';
import { checkMatch, MemoInquiry } from './inquiry.ts';
import { OldResult } from './old-result.ts';
import type { MemoPlan } from './options.ts';
import { failed, forOthers, succeeded, usedUp } from './outcome.ts';
import { FlightRun } from './run.ts';
import { stateOf } from './state.ts';
import { tellOnce } from './unkept.ts';
import { errorOf, readStored } from './words.ts';

/** All callers of one key in this process, who share one claim, until each has its result. */
export class Flight {
  readonly #runtime: LockRuntime;
  readonly #plan: MemoPlan; // of its first caller
  readonly #max: number; // bytes that the engine takes
  readonly #callers: WaitingCallers;
  #runner: { readonly caller: Caller; readonly run: FlightRun } | undefined;
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
    this.#max = runtime.engine.backend.traits.leaves!.max;
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
        // The last caller gave up, and others may have come since then.
        if (!this.#claimEnd.signal.aborted) this.#callers.serve((caller) => caller.reject(error));
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

  async #run(lease: HeldLease, tries: number): Promise<unknown> {
    const caller = this.#callers.first;
    if (!caller) return lease.release();
    if (tries > caller.plan.attempts)
      // An old result is worth more than an error, and the next attempt finds it.
      return this.#old?.left ? lease.release() : this.#leave(lease, usedUp(caller.plan));
    this.#callers.remove(caller);
    caller.begins();
    const run = new FlightRun(lease);
    this.#runner = { caller, run };
    try {
      const value = await caller.inContext(() => new Frame(this.#runtime, lease).run(caller.fn, run));
      return await this.#succeeded(caller, lease, value);
    } catch (error) {
      return this.#failed(caller, lease, error, tries);
    }
  }

  async #succeeded(caller: Caller, lease: HeldLease, value: unknown): Promise<void> {
    const { key, keep } = caller.plan;
    const leave = caller.inContext(() => succeeded(caller.plan, value, this.#max));
    const stored = readStored(leave.text, key);
    if (stored.kind === 'unkept') {
      const error = errorOf(stored, key, this.#runtime.engine.backend.name);
      tellOnce(key, error.message);
      if (this.#old?.left) throw error; // for its own caller: all others have the old one
    }
    const waiting = keep > 0 ? undefined : this.#callers.all;
    const became = await lease.releaseWith(leave, stateOf(leave.text));
    this.#land();
    const left = asLeft(leave, lease.token!);
    caller.settle(left, stored, { ran: true, ...forOthers(became, lease.hold.life.loss) });
    if (became === 'left') this.#callers.answer(left, waiting);
  }

  /** The runner has its own error, also if the words cannot be left. */
  async #failed(caller: Caller, lease: HeldLease, error: unknown, tries: number): Promise<void> {
    try {
      const leave = caller.inContext(() => failed(caller.plan, error, tries, this.#old?.left !== undefined, this.#max));
      if (leave) await this.#leave(lease, leave);
    } catch (cause) {
      if (isLockError(cause)) {
        tellOnce(caller.plan.key, cause.message);
        this.#callers.serve((other) => other.reject(cause));
      }
    } finally {
      await lease.release();
      this.#land();
      caller.reject(error);
    }
  }

  /** Leaves words for all that wait. */
  async #leave(lease: HeldLease, leave: Leave): Promise<void> {
    const became = await lease.releaseWith(leave, stateOf(leave.text));
    this.#land();
    if (became === 'left') this.#callers.answer(asLeft(leave, lease.token!));
  }

  /** The run is over, before its caller is told: that one may come again at once. */
  #land(): void {
    this.#runner = undefined;
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
