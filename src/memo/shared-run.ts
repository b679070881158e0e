import {
  EXCLUSIVE,
  type HeldLease,
  type Inquiry,
  isLockError,
  type LockError,
  type LockRuntime,
  NO_MARK,
  type StoredValue,
  UNANSWERED,
  type ValueRecord,
} from '../core/index.ts';
import type { Caller } from './caller.ts';
import { WaitingCallers } from './callers.ts';
import { afterFailure, afterGrant, aged, answered, maxAge } from './decisions.ts';
import { checkMatch, differ } from './match.ts';
import { usedUp } from './outcome.ts';
import { Runner, releaseAll } from './runner.ts';
import { stateOf } from './state.ts';

const NO_OLD_VALUE = (): undefined => undefined;

/** One claim and one run for all callers of one key in this process, until each has its result. */
export class SharedRun {
  readonly #runtime: LockRuntime;
  readonly #key: string;
  readonly #callers: WaitingCallers;
  #runner: Runner | undefined;
  /** The mark of the run that the callers wait for. A caller with another mark is refused at once. */
  #mark = NO_MARK;
  /** Gives the old result that this run refreshes, as long as that result is valid. The first caller found it; each later caller makes its own look. */
  #old: () => StoredValue | undefined = NO_OLD_VALUE;
  /** Ends the claim when no caller is left, or the engine is silent for too long. */
  #claimEnd = new AbortController();

  /**
   * @param head the first caller, which needs a new result
   * @param looked what the head has found, if the engine answered: perhaps a result that is due for a refresh
   * @param onEnd called at once when no caller is left and no function runs. If it were called later, a caller could join a run that is over
   */
  constructor(runtime: LockRuntime, head: Caller, looked: ValueRecord | undefined, onEnd: () => void) {
    const { engine } = runtime;
    const { key, keep } = head.plan;
    this.#runtime = runtime;
    this.#key = key;
    const at = engine.clock.now();
    const old = looked?.value;
    if (old) this.#old = () => aged(old, engine.clock.now() - at);
    const isSilent = !looked && keep > 0; // the head has looked, and got no answer
    this.#callers = new WaitingCallers(engine, key, looked !== undefined, isSilent, () => {
      if (!this.#runner) onEnd();
    });
    this.#wait(head);
  }

  /** Whether this run makes a new result while all later callers get the old one. */
  get refreshes(): boolean {
    return this.#old !== NO_OLD_VALUE;
  }

  /** @throws LockError `LOCK_MISMATCH` */
  check({ plan }: Caller): void {
    checkMatch(plan, this.#mark);
  }

  /** @param looked what the caller found, if it looked @throws LockError `LOCK_MISMATCH` */
  add(caller: Caller, looked: ValueRecord | undefined): void {
    this.check(caller);
    if (looked?.value) {
      this.#callers.add(caller);
      this.#callers.answer(looked.value, [caller]);
    } else if (caller.wait === 0) this.#callers.refuse(caller);
    else this.#wait(caller);
  }

  #wait(caller: Caller): void {
    const callers = this.#callers;
    callers.add(caller);
    caller.startLimits({ giveUp: (error) => this.#giveUp(caller, error), hasAnswer: () => callers.hasAnswer });
  }

  /** Serves callers until none is left. It never rejects. */
  async serve(): Promise<void> {
    for (let head = this.#callers.first; head; head = this.#callers.first) {
      this.#claimEnd = new AbortController();
      try {
        await this.#claim(head);
      } catch (error) {
        this.#fail(head, error);
      }
      this.#old = NO_OLD_VALUE;
    }
    this.#callers.checkEmpty();
  }

  /** Ends all waits. A function that runs goes on. */
  close(error: LockError): void {
    this.#callers.reject(error);
  }

  #giveUp(caller: Caller, error: unknown): void {
    if (this.#callers.remove(caller)) caller.reject(error);
    if (this.#callers.first) return;
    if (!this.#runner) this.#claimEnd.abort();
    else if (this.#runner.caller.signal?.aborted) this.#runner.run.abort(this.#runner.caller.signal.reason);
  }

  #fail(head: Caller, error: unknown): void {
    const callers = this.#callers;
    const { aborted, reason } = this.#claimEnd.signal;
    const old = this.#old();
    const act = afterFailure({
      error,
      ended: aborted ? (reason === UNANSWERED ? UNANSWERED : 'not needed') : undefined,
      hasOld: old !== undefined,
      hasWaited: head.wait === 0 || callers.hasWaited(head),
    });
    if (act === 'silence') callers.noteSilence(head, isLockError(error, 'LOCK_UNAVAILABLE') ? error : undefined);
    else if (act === 'old') callers.answer(old!, [head]);
    else if (act !== 'nothing') callers.reject(error, act === 'refuse first' ? [head] : undefined);
  }

  #setMark(mark: string, head?: Caller): void {
    this.#mark = mark;
    this.#callers.refuseOthers(mark, head);
  }

  async #claim(head: Caller): Promise<void> {
    const callers = this.#callers;
    const old = this.#old();
    const found: Found = { attempts: 0, sent: 0 };
    const inquiry = inquiryInto(found, head, old !== undefined, (mark) => {
      callers.noteAnswer();
      this.#setMark(mark, head);
    });
    const wait = head.wait === 0 || old ? 0 : Number.POSITIVE_INFINITY;
    const terms = { ...head.plan.terms, wait, signal: this.#claimEnd.signal, inquiry };
    const endLimit = callers.limitClaim(head, this.#claimEnd);
    const lease = await this.#runtime.take(this.#key, EXCLUSIVE, terms).finally(endLimit);
    const { value, attempts, sent } = found;
    if (lease) await this.#run(lease, head.plan.match, attempts);
    else if (value) callers.answer(value, answered(callers.all, value, sent));
    else if (old) callers.answer(old, [head]);
    else callers.serve((caller) => caller.reject(caller.timedOut()), [head]);
  }

  async #run(lease: HeldLease, match: string, attempts: number): Promise<unknown> {
    const waiting = this.#callers;
    const old = this.#old;
    // The claim carries the mark of its first caller. That caller may have given up by now, but only a caller with the same mark may run.
    const caller = waiting.all.find(({ plan }) => !differ(plan.match, match));
    const act = afterGrant(attempts, caller?.plan, old() !== undefined);
    // The hold may be over already: a listener of its grant may have closed the locks.
    if (!caller || act === 'release' || lease.hold.over) return lease.release();
    if (act === 'poison')
      return releaseAll(lease, usedUp(caller.plan), waiting, (isUnanswered) => isUnanswered && waiting.noteSilence());
    waiting.remove(caller);
    caller.begins();
    const onEnd = (isUnanswered: boolean): void => {
      this.#runner = undefined;
      this.#mark = NO_MARK;
      if (isUnanswered) waiting.noteSilence();
      waiting.checkEmpty();
    };
    this.#runner = new Runner({ runtime: this.#runtime, lease, caller, attempts, old, waiting, onEnd });
    this.#setMark(caller.plan.match);
    return this.#runner.perform();
  }
}

interface Found {
  value?: StoredValue | undefined;
  /** How often a run was begun, this time included, if the memo counts attempts. */
  attempts: number;
  /** When the last answered attempt was sent. */
  sent: number;
}

/**
 * Says which stored value ends the claim of a shared run, and writes what the engine answers into `found`.
 * @param onAnswer called at each answer of the engine, with the mark of the holder
 */
const inquiryInto = (found: Found, head: Caller, hasOld: boolean, onAnswer: (mark: string) => void): Inquiry => ({
  accepts(sent) {
    const { match: mark, attempts, rest, refresh } = head.plan;
    const counts = mark !== NO_MARK || attempts !== Number.POSITIVE_INFINITY ? rest : 0;
    return { age: hasOld ? refresh : maxAge(head, sent), mark, counts };
  },
  get state() {
    return found.value && stateOf(found.value.text);
  },
  settles(attempt, sent) {
    found.sent = sent;
    const mark = (!attempt.granted && attempt.mark) || NO_MARK;
    onAnswer(mark);
    if (attempt.granted) {
      found.attempts = attempt.attempts ?? 0;
      return false;
    }
    found.value = attempt.value;
    checkMatch(head.plan, mark);
    return attempt.value !== undefined;
  },
});
