import {
  type Cancel,
  Context,
  type Engine,
  type EngineClock,
  inMs,
  LockError,
  quoted,
  type StoredValue,
} from '../core/index.ts';
import { checkMatch } from './inquiry.ts';
import type { MemoPlan } from './options.ts';
import type { MemoResult, MemoWork } from './result.ts';
import { decoded } from './value.ts';
import { type Entry, errorOf, opened, readStored, type StoredEntry } from './words.ts';

/** One call of `run`, until it has its result. */
export class Caller<T = unknown> {
  readonly plan: MemoPlan<T>;
  readonly fn: MemoWork<T>;
  readonly wait: number;
  readonly signal: AbortSignal | undefined;
  readonly began: number;
  readonly result: Promise<MemoResult<T>>;
  readonly #context = new Context();
  readonly #engine: Engine;
  #resolve!: (result: MemoResult<T>) => void;
  #reject!: (error: unknown) => void;
  #giveUp: ((error: LockError) => void) | undefined;
  #heard: (() => boolean) | undefined;
  #over = false;
  #cancel: Cancel | undefined;
  #unlisten: (() => void) | undefined;

  constructor(engine: Engine, plan: MemoPlan<T>, fn: MemoWork<T>, began: number) {
    this.#engine = engine;
    this.plan = plan;
    this.fn = fn;
    this.wait = plan.terms.wait;
    this.signal = plan.terms.signal;
    this.began = began;
    this.result = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** Whether it has its result, or has given up. */
  get over(): boolean {
    return this.#over;
  }

  /**
   * Starts them, or has their end told to another one.
   * @param giveUp gets the error that ends the wait @param heard tells whether the engine has answered by then
   */
  startLimits(giveUp: (error: LockError) => void, heard: () => boolean): void {
    const started = this.#giveUp !== undefined;
    this.#giveUp = giveUp;
    this.#heard = heard;
    if (started) return;
    const { wait, signal } = this;
    const { clock } = this.#engine;
    if (signal?.aborted) {
      giveUp(this.#aborted());
      return;
    }
    if (wait > 0 && wait < Number.POSITIVE_INFINITY) {
      const left = Math.max(0, wait - Math.floor(clock.now() - this.began));
      this.#cancel = clock.after(left, () => this.#giveUp!(this.#heard!() ? this.timedOut() : this.#unheard()));
    }
    if (!signal) return;
    const abort = (): void => this.#giveUp!(this.#aborted());
    signal.addEventListener('abort', abort, { once: true });
    this.#unlisten = () => signal.removeEventListener('abort', abort);
  }

  /** Its own function runs: what it waits for now has no limit. */
  begins(): void {
    this.#cancel?.();
  }

  /** Runs something in the async context that it called from. */
  inContext<R>(work: () => R): R {
    return this.#context.run(work);
  }

  resolve(result: MemoResult<T>): void {
    this.#end();
    this.#resolve(result);
  }

  reject(error: unknown): void {
    this.#end();
    this.#reject(error);
  }

  #end(): void {
    this.#over = true;
    this.#cancel?.();
    this.#unlisten?.();
  }

  /** Gives it what is left: a value of its own, or the error that this stands for. @param own what is different for the runner */
  settle(left: StoredValue, stored?: StoredEntry, own?: Partial<MemoResult<T>>): void {
    try {
      const entry = stored ?? readStored(left.text, this.plan.key);
      this.resolve({ ...this.inContext(() => resultOf(this.#engine, this.plan, left, entry)), ...own });
    } catch (error) {
      this.reject(error);
    }
  }

  timedOut(): LockError {
    const { key } = this.plan;
    const { name: backend } = this.#engine.backend;
    const why = this.wait === 0 ? ': another one is at it, and wait is 0' : ` after ${inMs(this.wait)}`;
    const message = `${quoted(key)} on ${backend} has no result${why}. It was not run here`;
    return new LockError('LOCK_TIMEOUT', message, { key, backend });
  }

  #unheard(): LockError {
    const { key } = this.plan;
    const { name: backend } = this.#engine.backend;
    const message = `${backend} did not answer within ${inMs(this.wait)}, so nobody knows whether ${quoted(key)} has a result. It was not run here; try again`;
    return new LockError('LOCK_UNAVAILABLE', message, { key, backend });
  }

  #aborted(): LockError {
    const { key } = this.plan;
    return new LockError('LOCK_ABORTED', `the wait for the result of ${quoted(key)} was aborted by its signal`, {
      key,
      cause: this.signal?.reason,
    });
  }
}

/** What is left, for a memo that may see it. @throws LockError `LOCK_MISMATCH`, before it is opened; `LOCK_INVALID` */
export function entryFor(plan: Pick<MemoPlan, 'key' | 'match' | 'seal'>, stored: StoredEntry, backend: string): Entry {
  checkMatch(plan, stored.match, backend);
  return opened(stored, plan);
}

/** What is left, for one caller. @throws LockError that it stands for */
export function resultOf<T>(
  { backend, clock }: Engine,
  plan: MemoPlan<T>,
  { token, age }: StoredValue,
  stored: StoredEntry,
): MemoResult<T> {
  const entry = entryFor(plan, stored, backend.name);
  if (entry.kind !== 'kept') throw errorOf(entry, plan.key, backend.name);
  return { value: decoded(plan, entry.body), ran: false, kept: true, token, at: whenAt(clock, age) };
}

/** A time so long ago, by this machine's clock. */
export const whenAt = (clock: EngineClock, age: number): Date => new Date(Math.round(clock.epoch() - age));
