import {
  EXCLUSIVE,
  Frame,
  type HeldLease,
  isLockError,
  type Lease,
  type LockRuntime,
  type NewValue,
  type StoredValue,
} from '../core/index.ts';
import { type LeasedRun, leasedRun } from '../leading/leased-run.ts';
import type { Caller } from './caller.ts';
import type { WaitingCallers } from './callers.ts';
import { errorOf, readStored } from './entry.ts';
import type { MemoRun } from './memo.ts';
import { failed, forOthers, succeeded } from './outcome.ts';
import { stateOf } from './state.ts';

export interface RunFacts {
  readonly runtime: LockRuntime;
  readonly lease: HeldLease;
  /** The caller whose function runs. */
  readonly caller: Caller;
  /** How often a run was begun, this time included. */
  readonly attempts: number;
  /** Gives the old result that the run refreshes, as long as that result is valid. */
  old(): StoredValue | undefined;
  readonly waiting: WaitingCallers;
  /**
   * Called when the run is over or its lease is lost, before the caller gets the result: the caller may call again at once.
   * @param isUnanswered whether the engine did not answer the release
   */
  onEnd(isUnanswered: boolean): void;
}

/** Runs the function of one caller, and stores its result or error. */
export class Runner {
  readonly caller: Caller;
  readonly run: LeasedRun & MemoRun;
  readonly #facts: RunFacts;
  readonly #maxBytes: number;
  #ended = false;

  constructor(facts: RunFacts) {
    this.#facts = facts;
    this.caller = facts.caller;
    this.#maxBytes = facts.runtime.engine.backend.traits.values!.maxBytes;
    this.run = leasedRun([{ lease: facts.lease as Lease }], { key: facts.lease.key });
  }

  /** Resolves when the run is over or its lease is lost. After a loss nothing is kept, and the other callers wait for another run. */
  perform(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.run.listen(undefined, (loss) => {
      this.run.abort(loss);
      this.#end(false);
      resolve();
    });
    void this.#perform().then(resolve);
    return promise;
  }

  /** Never rejects. */
  async #perform(): Promise<void> {
    const { caller, runtime, lease } = this.#facts;
    try {
      const result = caller.inContext(() => new Frame(runtime, lease, EXCLUSIVE).run(caller.fn, this.run));
      // If callers inside still hold the key, the release tells them a loss that is not one of this run.
      const value = await result.finally(() => lease.users > 1 && this.run.over());
      await this.#succeeded(value);
    } catch (error) {
      await this.#failed(error);
    }
  }

  async #succeeded(result: unknown): Promise<void> {
    const { caller, lease, waiting, old } = this.#facts;
    const { plan } = caller;
    const value = caller.inContext(() => succeeded(plan, result, this.#maxBytes));
    const entry = readStored(value.text, plan.key);
    if (entry.kind === 'unkept') {
      const error = errorOf(entry, plan);
      warnOnce(plan.key, error.message);
      if (old()) throw error; // all callers get the old result
    }
    const waited = plan.keep > 0 ? undefined : waiting.all;
    const became = await lease.releaseWith(value, stateOf(value.text));
    this.#end(became === 'unknown');
    const stored = storedNow(value, lease);
    caller.settle(stored, entry, { ran: true, ...forOthers(became, lease.hold.loss) });
    if (became === 'stored') waiting.answer(stored, waited);
  }

  /** The caller gets the error of its function, even if the error cannot be stored. While an old result is there, all callers get the old result. */
  async #failed(error: unknown): Promise<void> {
    const { caller, lease, waiting, old, attempts } = this.#facts;
    try {
      const value = caller.inContext(() => failed(caller.plan, error, attempts, old() !== undefined, this.#maxBytes));
      if (value) await releaseAll(lease, value, waiting, (isUnanswered) => this.#end(isUnanswered));
    } catch (cause) {
      if (isLockError(cause)) warnOnce(caller.plan.key, cause.message);
      if (isLockError(cause) && !this.#ended) waiting.reject(cause);
    } finally {
      await lease.release();
      this.#end(false);
      const value = old();
      if (value) lease.hold.owner?.events.publish('refreshFailed', lease.token, { error });
      if (value) caller.settle(value);
      else caller.reject(error);
    }
  }

  #end(isUnanswered: boolean): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#facts.onEnd(isUnanswered);
  }
}

/** Stores a value together with the release, and gives the value to all waiting callers. @param onEnd called before the callers get the value */
export async function releaseAll(
  lease: HeldLease,
  value: NewValue,
  waiting: WaitingCallers,
  onEnd: RunFacts['onEnd'],
): Promise<void> {
  const became = await lease.releaseWith(value, stateOf(value.text));
  onEnd(became === 'unknown');
  if (became === 'stored') waiting.answer(storedNow(value, lease));
}

const storedNow = ({ text, ttl }: NewValue, { token }: HeldLease): StoredValue => ({
  text,
  token: token!,
  age: 0,
  validFor: ttl,
});

/** The keys that had a warning. Their number is bounded, since a process may use any number of keys. */
const warned = new Set<string>();
const MAX_WARNED_KEYS = 1_000;

function warnOnce(key: string, message: string): void {
  if (warned.has(key)) return;
  if (warned.size === MAX_WARNED_KEYS) warned.clear();
  warned.add(key);
  process.emitWarning(message, 'HoldfastUnkeptWarning');
}
