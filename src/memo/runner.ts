import {
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

/** What runs, and for whom. */
export interface RunFacts {
  readonly runtime: LockRuntime;
  readonly lease: HeldLease;
  /** Its function runs. */
  readonly caller: Caller;
  /** How often a run was begun, this time included. */
  readonly attempts: number;
  /** The result that it refreshes, until that is over. */
  old(): StoredValue | undefined;
  /** They get what it gives. */
  readonly waiting: WaitingCallers;
  /**
   * Called when it is over, before its caller gets the result, since that one may come again at once; or when its lease is lost.
   * @param isUnanswered whether the engine did not answer the release
   */
  onEnd(isUnanswered: boolean): void;
}

/** A caller whose function runs, until that has ended. */
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
    this.run.listen(undefined);
  }

  /** @returns when it is over, or has lost its lease: nothing of it is kept then, and the other callers wait for another run */
  perform(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#facts.lease.hold.listeners.onLoss(() => {
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
      const value = await caller.inContext(() => new Frame(runtime, lease).run(caller.fn, this.run));
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
      if (old()) throw error; // it is no result: all have the old one
    }
    const waited = plan.keep > 0 ? undefined : waiting.all;
    const became = await lease.releaseWith(value, stateOf(value.text));
    this.#end(became === 'unknown');
    const stored = storedNow(value, lease);
    caller.settle(stored, entry, { ran: true, ...forOthers(became, lease.hold.loss) });
    if (became === 'stored') waiting.answer(stored, waited);
  }

  /** The runner has its own error, also if it cannot be stored; while an old result is there, it has that, as all others do. */
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
      if (value) lease.hold.owner?.events.tell('refreshFailed', lease.token, { error });
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

/** Stores a value, and gives it to all callers that wait. @param onEnd called before they get it */
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

/** Keys of which there was a warning. A process may use any number of keys. */
const warned = new Set<string>();
const MAX_WARNED_KEYS = 1_000;

/** Warns once per key, since each call of it has the same trouble. */
function warnOnce(key: string, message: string): void {
  if (warned.has(key)) return;
  if (warned.size === MAX_WARNED_KEYS) warned.clear();
  warned.add(key);
  process.emitWarning(message, 'HoldfastUnkeptWarning');
}
