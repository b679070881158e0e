import {
  type Cancel,
  Context,
  type Engine,
  type EngineClock,
  inMs,
  LockError,
  onAbort,
  quoted,
  type StoredValue,
} from '../core/index.ts';
import { decoded, errorOf, opened, readStored, type StoredEntry } from './entry.ts';
import type { MemoResult, MemoWork } from './memo.ts';
import type { MemoPlan } from './options.ts';

/** What a waiting caller needs of its owner to limit the wait. */
export interface Limits {
  /** Gets the error for the caller, when `wait` is over or the signal aborts. */
  giveUp(error: LockError): void;
  /** Whether the engine has answered so far. */
  hasAnswer(): boolean;
}

/** One call of `run`, until it has its result. */
export class Caller<T = unknown> {
  readonly plan: MemoPlan<T>;
  readonly fn: MemoWork<T>;
  readonly began: number;
  readonly #engine: Engine;
  readonly #context = new Context();
  readonly #outcome = Promise.withResolvers<MemoResult<T>>();
  readonly result = this.#outcome.promise;
  #limits: Limits | undefined;
  #over = false;
  #cancel: Cancel | undefined;
  #unlisten: (() => void) | undefined;

  constructor(engine: Engine, plan: MemoPlan<T>, fn: MemoWork<T>, began: number) {
    this.#engine = engine;
    this.plan = plan;
    this.fn = fn;
    this.began = began;
  }

  get wait(): number {
    return this.plan.terms.wait;
  }

  get signal(): AbortSignal | undefined {
    return this.plan.terms.signal;
  }

  /** Whether the caller has its result, or has given up. */
  get over(): boolean {
    return this.#over;
  }

  /** Starts the limits of the wait. A second call only replaces `limits`. */
  startLimits(limits: Limits): void {
    const started = this.#limits !== undefined;
    this.#limits = limits;
    if (started) return;
    const { wait, signal } = this;
    const { clock } = this.#engine;
    if (signal) this.#unlisten = onAbort(signal, () => this.#limits!.giveUp(this.#aborted()));
    if (!signal?.aborted && wait > 0 && wait < Number.POSITIVE_INFINITY) {
      const remaining = Math.max(0, wait - Math.floor(clock.now() - this.began));
      this.#cancel = clock.after(remaining, () =>
        this.#limits!.giveUp(this.#limits!.hasAnswer() ? this.timedOut() : this.#unanswered()),
      );
    }
  }

  /** Called when the function of this caller begins: `wait` does not limit its run. */
  begins(): void {
    this.#cancel?.();
  }

  /** Runs `work` in the async context of the call. */
  inContext<R>(work: () => R): R {
    return this.#context.run(work);
  }

  resolve(result: MemoResult<T>): void {
    this.#end();
    this.#outcome.resolve(result);
  }

  reject(error: unknown): void {
    this.#end();
    this.#outcome.reject(error);
  }

  #end(): void {
    this.#over = true;
    this.#cancel?.();
    this.#unlisten?.();
  }

  /** Ends the call with the stored value or error. @param own the fields that differ for the caller whose function ran */
  settle(value: StoredValue, stored?: StoredEntry, own?: Partial<MemoResult<T>>): void {
    try {
      this.resolve({ ...this.inContext(() => resultOf(this.#engine.clock, this.plan, value, stored)), ...own });
    } catch (error) {
      this.reject(error);
    }
  }

  timedOut(): LockError {
    const why = this.wait === 0 ? ': another one is at it, and wait is 0' : ` after ${inMs(this.wait)}`;
    const { key, backend } = this.plan;
    const message = `${quoted(key)} on ${backend} has no result${why}. It was not run here`;
    return new LockError('LOCK_TIMEOUT', message, { key, backend });
  }

  #unanswered(): LockError {
    const { key, backend } = this.plan;
    const message = `${backend} did not answer within ${inMs(this.wait)}, so nobody knows whether ${quoted(key)} has a result. It was not run here; try again`;
    return new LockError('LOCK_UNAVAILABLE', message, { key, backend });
  }

  #aborted(): LockError {
    const { key } = this.plan;
    const message = `the wait for the result of ${quoted(key)} was aborted by its signal`;
    return new LockError('LOCK_ABORTED', message, { key, cause: this.signal?.reason });
  }
}

/** Makes the result of one caller from what is stored. @throws LockError if an error is stored */
export function resultOf<T>(
  clock: EngineClock,
  plan: MemoPlan<T>,
  { text, token, age }: StoredValue,
  stored: StoredEntry = readStored(text, plan.key),
): MemoResult<T> {
  const entry = opened(plan, stored);
  if (entry.kind !== 'kept') throw errorOf(entry, plan);
  return { value: decoded(plan, entry.body), ran: false, kept: true, token, at: whenAt(clock, age) };
}

/** The time that was `age` ms ago, by this machine's clock. */
export const whenAt = (clock: EngineClock, age: number): Date => new Date(Math.round(clock.epoch() - age));
