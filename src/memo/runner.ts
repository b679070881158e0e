import {
  Frame,
  type HeldLease,
  isLockError,
  type LockRuntime,
  type NewValue,
  type StoredValue,
} from '../core/index.ts';
import type { Caller } from './caller.ts';
import type { OldResult } from './old-result.ts';
import { failed, forOthers, succeeded } from './outcome.ts';
import { FlightRun } from './run.ts';
import { stateOf } from './state.ts';
import { errorOf, readStored } from './words.ts';

/** Those that wait for what a run gives. */
export interface Waiting {
  readonly all: readonly Caller[];
  /** Gives words to these, or to all. */
  answer(left: StoredValue, callers?: readonly Caller[]): void;
  serve(act: (caller: Caller) => void): void;
}

/** @param isUnanswered whether the engine did not answer the release */
type OnEnd = (isUnanswered: boolean) => void;

/** A caller whose function runs, until that has ended. */
export class Runner {
  readonly caller: Caller;
  readonly run: FlightRun;
  readonly #runtime: LockRuntime;
  readonly #lease: HeldLease;
  readonly #attempts: number;
  /** The result that it refreshes. */
  readonly #old: OldResult | undefined;
  readonly #waiting: Waiting;
  readonly #onEnd: OnEnd;
  readonly #max: number; // bytes that the engine takes
  #ended = false;

  /** @param onEnd called when it is over, before its caller is told, since that one may come again at once; or when its lease is lost */
  constructor(
    runtime: LockRuntime,
    lease: HeldLease,
    caller: Caller,
    { attempts, old, waiting, onEnd }: { attempts: number; old: OldResult | undefined; waiting: Waiting; onEnd: OnEnd },
  ) {
    this.#runtime = runtime;
    this.#lease = lease;
    this.#max = runtime.engine.backend.traits.values!.maxBytes;
    this.#attempts = attempts;
    this.#old = old;
    this.#waiting = waiting;
    this.#onEnd = onEnd;
    this.caller = caller;
    this.run = new FlightRun(lease);
  }

  /** @returns when it is over, or has lost its lease: nothing of it is kept then, and the other callers stand in line again */
  fly(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#lease.hold.life.onLoss(() => {
      this.#end();
      resolve();
    });
    void this.#perform().then(resolve);
    return promise;
  }

  /** Never rejects. */
  async #perform(): Promise<void> {
    const { caller } = this;
    try {
      const value = await caller.inContext(() => new Frame(this.#runtime, this.#lease).run(caller.fn, this.run));
      await this.#succeeded(value);
    } catch (error) {
      await this.#failed(error);
    }
  }

  async #succeeded(value: unknown): Promise<void> {
    const { caller } = this;
    const { key, keep } = caller.plan;
    const leave = caller.inContext(() => succeeded(caller.plan, value, this.#max));
    const stored = readStored(leave.text, key);
    if (stored.kind === 'unkept') {
      const error = errorOf(stored, key, this.#runtime.engine.backend.name);
      tellOnce(key, error.message);
      if (this.#old?.left) throw error; // it is no result: all have the old one
    }
    const waited = keep > 0 ? undefined : this.#waiting.all;
    const became = await this.#lease.releaseWith(leave, stateOf(leave.text));
    this.#end(became === 'unknown');
    const left = asLeft(leave, this.#lease.token!);
    caller.settle(left, stored, { ran: true, ...forOthers(became, this.#lease.hold.life.loss) });
    if (became === 'left') this.#waiting.answer(left, waited);
  }

  /** The runner has its own error, also if the words cannot be left; while an old result is there, it has that, as all others do. */
  async #failed(error: unknown): Promise<void> {
    const { caller } = this;
    const lease = this.#lease;
    try {
      const leave = caller.inContext(() =>
        failed(caller.plan, error, this.#attempts, this.#old?.left !== undefined, this.#max),
      );
      if (leave) await leaveWords(lease, leave, this.#waiting, (silent) => this.#end(silent));
    } catch (cause) {
      if (isLockError(cause)) tellOnce(caller.plan.key, cause.message);
      if (isLockError(cause) && !this.#ended) this.#waiting.serve((other) => other.reject(cause));
    } finally {
      await lease.release();
      this.#end();
      const left = this.#old?.left;
      if (left) lease.hold.owner?.events.tell('refreshFailed', lease.token, { error });
      if (left) caller.settle(left);
      else caller.reject(error);
    }
  }

  #end(isUnanswered = false): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#onEnd(isUnanswered);
  }
}

/**
 * Leaves words for all callers that wait.
 * @param onEnd called before they are told
 */
export async function leaveWords(lease: HeldLease, leave: NewValue, waiting: Waiting, onEnd: OnEnd): Promise<void> {
  const became = await lease.releaseWith(leave, stateOf(leave.text));
  onEnd(became === 'unknown');
  if (became === 'left') waiting.answer(asLeft(leave, lease.token!));
}

/** What was left just now. */
const asLeft = ({ text, ttl }: NewValue, token: bigint): StoredValue => ({ text, token, age: 0, validFor: ttl });

/** Keys of which it was told. A process may use any number of keys. */
const told = new Set<string>();
const MOST = 1_000;

/** Warns once per key, since each call of it has the same trouble. */
function tellOnce(key: string, message: string): void {
  if (told.has(key)) return;
  if (told.size === MOST) told.clear();
  told.add(key);
  process.emitWarning(message, 'HoldfastUnkeptWarning');
}
