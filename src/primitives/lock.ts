import {
  AdaptiveHistory,
  type AnyLease,
  checkWaitersListed,
  type Demand,
  EXCLUSIVE,
  Frame,
  type HeldLease,
  invalid,
  isLockError,
  type LayeredOptions,
  type Lease,
  LockError,
  type LockOptions,
  type LockRuntime,
  quoted,
  reasonOf,
  shown,
  type Terms,
} from '../core/index.ts';

/** A lock on a key: one caller or a few hold it at a time. */
export interface Lock<L extends AnyLease = AnyLease, O extends LockOptions = LockOptions> {
  /**
   * Waits for its turn, and takes the lock.
   * @throws LockError `LOCK_TIMEOUT`, `LOCK_ABORTED`, `LOCK_UNAVAILABLE`, `LOCK_CLOSED`, `LOCK_DEADLOCK`, `LOCK_INVALID`
   * @example
   * await using lease = await locks.mutex('order:42').acquire({ wait: '2s' });
   * await writeOrder(lease.token); // released at the end of the block
   */
  acquire(options?: O): Promise<L>;
  /**
   * Takes the lock if it is free, and never waits. If the lock is taken, it gives null. It throws as `acquire` does, except `LOCK_TIMEOUT`.
   * @example
   * const lease = await locks.mutex('report').tryAcquire();
   * if (lease === null) console.log('somebody is at it');
   * await lease?.release();
   */
  tryAcquire(options?: Omit<O, 'wait'>): Promise<L | null>;
  /**
   * Takes the lock, runs `fn` and releases the lock. It gives the result or error of `fn`, even if the release fails. It does so after a loss
   * of the lease, too, unless `onLoss` is `'throw'`. `fn` and the work that it starts re-enter the same lock (`reentrant`): `await` such work, or
   * the work runs beside `fn`.
   * @throws what `fn` throws; LockError as `acquire`, `LOCK_LOST`
   * @example
   * await locks.mutex('order:42').run(async (lease) => {
   *   await writeOrder(lease.token);
   * });
   */
  run<T>(fn: (lease: L) => Promise<T> | T, options?: O): Promise<T>;
}

/** @internal A target is what a lock locks: units of one key, or several targets. */
export interface Target<L, O> {
  /** The key, or the keys, for people. */
  readonly name: string;
  /** The targets of the parts, if the lock is made of several locks. */
  readonly parts?: readonly Target<AnyLease, LockOptions>[];
  /** Gives the options that every lock has, without those that only this kind of lock has. */
  lockOptions?(options: O): LockOptions;
  /**
   * Takes the units. A loop of refusals is slowed, see `RefusalThrottle`.
   * @param watched whether the caller has to release the lease: then a warning is printed if the lease is dropped
   * @returns undefined if `wait` is 0 and the units are taken
   */
  take(terms: Terms, options: O | undefined, watched: boolean): Promise<L | undefined>;
  /** Runs `fn` in an async context in which calls can enter this lock again. */
  inside<T>(lease: L, fn: (lease: L) => Promise<T> | T): Promise<T>;
}

/** @internal The object behind every lock. It checks its options when it is made, and the options of a call at that call. */
export class LockObject<L extends AnyLease, O extends LockOptions> implements Lock<L, O> {
  readonly #runtime: LockRuntime;
  readonly target: Target<L, O>;
  readonly #options: LayeredOptions;

  /** @param given the options of this lock; `defaults` has those that are left out */
  constructor(runtime: LockRuntime, target: Target<L, O>, defaults: LayeredOptions, given?: LockOptions) {
    this.#runtime = runtime;
    this.target = target;
    this.#options = given === undefined ? defaults : defaults.with(given);
    const { terms } = this.#options;
    if (terms.adaptive || terms.detect) this.#refuseUnsupported(terms);
  }

  acquire(options?: O): Promise<L> {
    return this.#take(options, true);
  }

  // `#take` is not async: one more async function would cost more than all the work in `#take`.
  #take(options: O | undefined, watched: boolean): Promise<L> {
    try {
      const terms = options === undefined ? this.#options.terms : this.#termsOf(options);
      const lease = this.target.take(terms, options, watched);
      return terms.wait > 0 ? (lease as Promise<L>) : lease.then((lease) => lease ?? this.#throwTaken());
    } catch (error) {
      return this.#runtime.refusals.refuse(error);
    }
  }

  tryAcquire(options?: Omit<O, 'wait'>): Promise<L | null> {
    const given = options as O | undefined;
    try {
      const terms = given === undefined ? this.#options.terms : this.#termsOf(given);
      return this.target.take({ ...terms, wait: 0 }, given, true).then((lease) => lease ?? null);
    } catch (error) {
      return this.#runtime.refusals.refuse(error);
    }
  }

  async run<T>(fn: (lease: L) => Promise<T> | T, options?: O): Promise<T> {
    // The check comes before the lock is taken. Otherwise others would wait for nothing.
    if (typeof fn !== 'function') throw invalid(`run() needs a function, not ${shown(fn)}`, this.target.name);
    const lease = await this.#take(options, false);
    try {
      const work = this.target.inside(lease, fn);
      const throws = (options?.onLoss ?? this.#options.terms.onLoss) === 'throw';
      return await (throws ? unlessLost(lease, work) : work);
    } finally {
      await lease[Symbol.asyncDispose]();
    }
  }

  /** Shows in a log what the lock is, and nothing of how it works. */
  // This symbol is `util.inspect.custom`. We do not import it: `node:util` may be missing.
  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return `Lock(${quoted(this.target.name)} on ${this.#runtime.engine.backend.name})`;
  }

  /** Whether these `Locks` made the lock, so that its terms fit the engine. */
  isOf(runtime: LockRuntime): boolean {
    return this.#runtime === runtime;
  }

  #throwTaken(): never {
    const { name: backend } = this.#runtime.engine.backend;
    const { name } = this.target;
    const message = `${quoted(name)} on ${backend} is taken, and wait is 0`;
    throw new LockError('LOCK_TIMEOUT', message, { key: name, backend });
  }

  /** @throws LockError `LOCK_UNSUPPORTED` when the engine cannot do what these terms ask for */
  #refuseUnsupported(terms: Terms): void {
    const { engine } = this.#runtime;
    if (terms.adaptive) new AdaptiveHistory(engine, this.target.name, terms.adaptive);
    if (terms.detect) checkWaitersListed(engine.backend, 'leave detect out, and give a wait', this.target.name);
  }

  #termsOf(options: O): Terms {
    const { terms } = this.#options.with(this.target.lockOptions?.(options) ?? options);
    this.#refuseUnsupported(terms);
    return terms;
  }
}

/**
 * Gives the outcome of work that ran under a lease.
 * @throws LockError `LOCK_LOST` if the lease was lost before the work ended, also if the work failed
 */
async function unlessLost<T>(lease: AnyLease, work: Promise<T>): Promise<T> {
  const [outcome] = await Promise.allSettled([work]);
  const cause = lossOf(lease);
  if (cause) {
    const { key, backend } = cause;
    const gave = outcome.status === 'fulfilled' ? 'a result' : `an error: ${reasonOf(outcome.reason)}`;
    const lost = key === undefined ? 'the lock' : `the lock of ${quoted(key)} on ${backend}`;
    const message = `${lost} was lost while its work ran, which ended all the same, with ${gave}. Look what it has done: outcome has what it gave, cause the loss`;
    throw new LockError('LOCK_LOST', message, { key, backend, cause, outcome });
  }
  return work;
}

/** The loss of a lease, also if the deadline has passed and no timer has fired yet. */
function lossOf(lease: AnyLease): LockError | undefined {
  try {
    if (lease.signal.aborted) return lease.signal.reason as LockError;
    lease.assertHeld();
  } catch (error) {
    if (isLockError(error, 'LOCK_LOST')) return error;
  }
  return undefined; // it is held, or the work has given it back itself
}

/** @internal Makes a target of units of one key. */
export const oneKey = <L extends AnyLease>(
  runtime: LockRuntime,
  key: string,
  demand: Demand,
): Target<L, LockOptions> => ({
  name: key,
  take: (terms, _, watched) =>
    runtime.take(key, demand, terms, watched) as Promise<AnyLease | undefined> as Promise<L | undefined>,
  inside: (lease, fn) => new Frame(runtime, lease as AnyLease as HeldLease, demand).run(fn, lease),
});

/** A mutex has one holder at a time. A call inside `run` re-enters. */
export type Mutex = Lock<Lease>;

/** @internal */
export const mutex = (runtime: LockRuntime, key: string, defaults: LayeredOptions, given?: LockOptions): Mutex =>
  new LockObject(runtime, oneKey<Lease>(runtime, key, EXCLUSIVE), defaults, given);
