import { EXCLUSIVE } from '../core/contract/admission.ts';
import type { Leave, Left } from '../core/contract/backend.ts';
import { isLockError, LockError } from '../core/contract/errors.ts';
import { passedFor } from '../core/contract/terms.ts';
import type { HeldLease } from '../core/holds/held-lease.ts';
import { Frame } from '../core/line/frame.ts';
import type { LockRuntime } from '../core/line/runtime.ts';
import { takeSeats } from '../core/line/take-seats.ts';
import { type Caller, whenAt } from './caller.ts';
import { checkMatch, MemoInquiry } from './inquiry.ts';
import { failed, forOthers, succeeded, usedUp } from './outcome.ts';
import { FlightRun } from './run.ts';
import { stateOf } from './state.ts';
import { aged } from './words.ts';

/** All callers of one key in this process, who share one claim, until each has its result. */
export class Flight {
  readonly #runtime: LockRuntime;
  readonly #key: string;
  readonly #match: string;
  readonly #callers = new Set<Caller>();
  #runner: { readonly caller: Caller; readonly run: FlightRun } | undefined;
  #looked = false;
  /** The answers of the engine so far. */
  readonly #answers = { count: 0 };
  /** The old result that was there at a time, and is due for a refresh. */
  #found: { readonly left: Left; readonly at: number } | undefined;
  #abort = new AbortController();

  constructor(runtime: LockRuntime, { plan: { key, match } }: Caller) {
    this.#runtime = runtime;
    this.#key = key;
    this.#match = match;
  }

  /** @throws LockError `LOCK_MISMATCH` */
  add(caller: Caller): void {
    checkMatch(caller.plan, this.#match, this.#runtime.engine.backend.name);
    const old = this.#old;
    if (old) caller.settle(old);
    else if (this.#looked && caller.wait === 0) caller.reject(caller.timedOut());
    else {
      this.#callers.add(caller);
      const giveUp = (error: unknown): void => this.#giveUp(caller, error);
      caller.startLimits(giveUp, () => this.#answers.count > 0);
    }
  }

  /** Serves its callers until none is left. Never rejects. @param onEnd called in the turn in which it has none: later, one may join in vain */
  async fly(onEnd: () => void): Promise<void> {
    while (this.#callers.size > 0) {
      this.#abort = new AbortController();
      const [head] = this.#callers as Iterable<Caller> as [Caller];
      try {
        await this.#serve(head);
      } catch (error) {
        // The last caller gave up, and others may have come since then.
        if (!this.#abort.signal.aborted) this.#each((caller) => caller.reject(error));
      }
    }
    onEnd();
  }

  #giveUp(caller: Caller, error: unknown): void {
    if (this.#callers.delete(caller)) caller.reject(error);
    if (this.#callers.size > 0) return;
    if (!this.#runner) this.#abort.abort();
    else if (this.#runner.caller.signal?.aborted) this.#runner.run.abort(this.#runner.caller.signal.reason);
  }

  #each(act: (caller: Caller) => void, callers: Iterable<Caller> = [...this.#callers]): void {
    for (const caller of callers) if (this.#callers.delete(caller)) act(caller);
  }

  /** The old result. All get it while one makes a new one, until it is over. */
  get #old(): Left | undefined {
    return this.#found && aged(this.#found.left, this.#runtime.engine.clock.now() - this.#found.at);
  }

  async #serve(head: Caller): Promise<void> {
    if (await this.#isKept(head)) return;
    const old = this.#old;
    const age = oldest(head, old !== undefined);
    const inquiry = new MemoInquiry(head.plan, this.#runtime.engine.backend.name, age, this.#answers);
    const wait = head.wait === 0 || old ? 0 : Number.POSITIVE_INFINITY;
    const terms = { ...head.plan.terms, wait, signal: this.#abort.signal, inquiry };
    const lease = await takeSeats(this.#runtime, this.#key, EXCLUSIVE, terms);
    const left = inquiry.left ?? old;
    if (lease) await this.#run(lease, inquiry.tries);
    else if (left) this.#each((caller) => caller.settle(left), answered(this.#callers, left, inquiry.sent));
    else this.#each((caller) => caller.reject(caller.timedOut()), [head]);
  }

  /** Looks, once, whether there is a result already. A result that is due for a refresh serves all callers but the first. */
  async #isKept(head: Caller): Promise<boolean> {
    if (this.#looked) return false;
    const { engine } = this.#runtime;
    const found = head.plan.keep > 0 ? await engine.look(this.#key).then(({ left }) => left, unanswered) : undefined;
    this.#looked = true;
    if (head.plan.keep > 0 && !(found instanceof LockError)) this.#answers.count++;
    const others = [...this.#callers].filter((caller) => caller !== head);
    if (found === undefined || found instanceof LockError) {
      this.#each((caller) => caller.reject(found ?? caller.timedOut()), others.filter(isImpatient));
      return false;
    }
    const kept = found.age < head.plan.refresh;
    if (!kept) this.#found = { left: found, at: engine.clock.now() };
    this.#each((caller) => caller.settle(found), kept ? [...this.#callers] : others);
    return kept;
  }

  async #run(lease: HeldLease, tries: number): Promise<void> {
    const [caller] = this.#callers as Iterable<Caller | undefined> as [Caller | undefined];
    if (!caller) return void (await lease.release());
    if (tries > caller.plan.attempts) return this.#leave(lease, usedUp(caller.plan));
    this.#callers.delete(caller);
    caller.begins();
    const run = new FlightRun(lease);
    this.#runner = { caller, run };
    try {
      const value = await caller.inContext(() => new Frame(this.#runtime, lease).run(caller.fn, run));
      await this.#succeeded(caller, lease, value);
    } catch (error) {
      await this.#failed(caller, lease, error, tries);
    } finally {
      this.#runner = undefined;
      run.over();
    }
  }

  async #succeeded(caller: Caller, lease: HeldLease, value: unknown): Promise<void> {
    const { backend, clock } = this.#runtime.engine;
    const { leave, error } = succeeded(caller.plan, value, backend.traits.leaves!.max);
    const waited = [...this.#callers];
    const token = lease.token!;
    const became = await lease.releaseWith(leave, stateOf(leave.text));
    const others = forOthers(became, error, lease.hold.life.loss);
    caller.resolve({ value, ran: true, token, at: whenAt(clock, 0), ...others });
    if (became !== 'left') return;
    this.#settle(leave, token, caller.plan.keep > 0 ? undefined : waited);
  }

  /** The runner has its own error, also if the words cannot be left. */
  async #failed(caller: Caller, lease: HeldLease, error: unknown, tries: number): Promise<void> {
    try {
      const leave = failed(caller.plan, error, tries, this.#old !== undefined);
      if (leave) await this.#leave(lease, leave);
    } catch (cause) {
      if (isLockError(cause)) this.#each((other) => other.reject(cause));
    } finally {
      await lease.release();
      caller.reject(error);
    }
  }

  async #leave(lease: HeldLease, leave: Leave): Promise<void> {
    if ((await lease.releaseWith(leave, stateOf(leave.text))) === 'left') this.#settle(leave, lease.token!);
  }

  /** Gives the callers here what was left just now. @param callers default: all */
  #settle({ text, ttl }: Leave, ticket: bigint, callers?: Iterable<Caller>): void {
    const left: Left = { text, ticket, age: 0, validFor: ttl };
    this.#each((caller) => caller.settle(left), callers);
  }
}

const isImpatient = ({ wait }: Caller): boolean => wait === 0;

/** The age of the oldest result that a caller takes, ms, by the time at which its attempt is sent. */
function oldest({ plan: { keep, refresh }, began }: Caller, refreshing: boolean): (sent: number) => number {
  if (refreshing) return () => refresh;
  return keep > 0 ? () => Number.POSITIVE_INFINITY : (sent) => passedFor(sent - began);
}

/** The callers that waited when the words were left; all, where the words count for longer. */
const answered = (callers: Iterable<Caller>, { age }: Left, sent: number): Caller[] =>
  [...callers].filter(({ plan, began }) => plan.keep > 0 || age <= passedFor(sent - began));

/**
 * A look that the engine did not answer finds nothing: the claim comes to a result, too, and waits for an engine that is away.
 * @throws what else the look failed with
 */
function unanswered(error: unknown): LockError {
  if (isLockError(error, 'LOCK_UNAVAILABLE')) return error;
  throw error;
}
