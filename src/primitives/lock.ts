import { EXCLUSIVE, type Seats } from '../core/contract/admission.ts';
import { checkWaitersListed } from '../core/contract/capability.ts';
import { invalid, LockError, quoted, shown } from '../core/contract/errors.ts';
import type { LayeredOptions } from '../core/contract/option-table.ts';
import type { LockOptions } from '../core/contract/options.ts';
import type { Terms } from '../core/contract/terms.ts';
import { AdaptiveHistory } from '../core/holds/adaptive-history.ts';
import { heldLease } from '../core/holds/held-lease.ts';
import type { AnyLease, Lease } from '../core/holds/lease.ts';
import { Frame } from '../core/line/frame.ts';
import type { LockRuntime } from '../core/line/runtime.ts';
import { takeSeats } from '../core/line/take-seats.ts';

/** Something that is held by one, or by a few, at a time. */
export interface Lock<L extends AnyLease = AnyLease, O extends LockOptions = LockOptions> {
  /**
   * Waits its turn.
   * @throws LockError `LOCK_TIMEOUT`, `LOCK_ABORTED`, `LOCK_UNAVAILABLE`, `LOCK_CLOSED`, `LOCK_DEADLOCK`, `LOCK_INVALID`
   * @example
   * await using lease = await locks.mutex('order:42').acquire({ wait: '2s' });
   * await writeOrder(lease.token); // released at the end of the block
   */
  acquire(options?: O): Promise<L>;
  /**
   * Never waits: null when it cannot be had now. Throws as `acquire` does, but never `LOCK_TIMEOUT`.
   * @example
   * const lease = await locks.mutex('report').tryAcquire();
   * if (lease === null) console.log('somebody is at it');
   * await lease?.release();
   */
  tryAcquire(options?: Omit<O, 'wait'>): Promise<L | null>;
  /**
   * Runs `fn` with the lock held and gives fn's own result or error, which a failing release never hides.
   * @example
   * await locks.mutex('order:42').run(async (lease) => {
   *   await writeOrder(lease.token);
   * });
   */
  run<T>(fn: (lease: L) => Promise<T> | T, options?: O): Promise<T>;
}

/** @internal What a lock locks: seats of one key, or several of these. */
export interface Target<L, O> {
  /** The key, or the keys, for people. */
  readonly name: string;
  /** What it is made of, where that is more than one lock. */
  readonly parts?: readonly Target<AnyLease, LockOptions>[];
  /** The options of a call without those of this kind of lock only. */
  lockOptions(options: O): LockOptions;
  /** @returns undefined when `wait` is 0 and it cannot be had now. A loop of refusals is slowed, see `RefusalThrottle` */
  take(terms: Terms, options: O | undefined): Promise<L | undefined>;
  /** Runs `fn` where the lock can be re-entered. */
  inside<T>(lease: L, fn: (lease: L) => Promise<T> | T): Promise<T>;
}

/** @internal Every lock object: options are checked when it is made, and again for what a call adds. */
export class LockObject<L extends AnyLease, O extends LockOptions> implements Lock<L, O> {
  readonly #runtime: LockRuntime;
  readonly target: Target<L, O>;
  readonly #options: LayeredOptions;

  /** @param given the options of this lock; what they leave out is as in `defaults` */
  constructor(runtime: LockRuntime, target: Target<L, O>, defaults: LayeredOptions, given?: LockOptions) {
    this.#runtime = runtime;
    this.target = target;
    this.#options = given === undefined ? defaults : defaults.with(given);
    const { terms } = this.#options;
    if (terms.adaptive || terms.detect) this.#refuseUnsupported(terms);
  }

  // Not async, as most of what is called for each lock: an async function more costs more than it does.
  acquire(options?: O): Promise<L> {
    try {
      const terms = options === undefined ? this.#options.terms : this.#termsOf(options);
      const lease = this.target.take(terms, options);
      return terms.wait > 0 ? (lease as Promise<L>) : lease.then((lease) => lease ?? this.#taken());
    } catch (error) {
      return this.#runtime.refusals.refuse(error);
    }
  }

  tryAcquire(options?: Omit<O, 'wait'>): Promise<L | null> {
    const given = options as O | undefined;
    try {
      const terms = given === undefined ? this.#options.terms : this.#termsOf(given);
      return this.target.take({ ...terms, wait: 0 }, given).then((lease) => lease ?? null);
    } catch (error) {
      return this.#runtime.refusals.refuse(error);
    }
  }

  async run<T>(fn: (lease: L) => Promise<T> | T, options?: O): Promise<T> {
    // Here: to find it out with the lock in hand would make everybody wait for nothing.
    if (typeof fn !== 'function') throw invalid(`run() needs a function, not ${shown(fn)}`, this.target.name);
    const lease = await this.acquire(options);
    try {
      return await this.target.inside(lease, fn);
    } finally {
      await lease[Symbol.asyncDispose]();
    }
  }

  /** Whether the same `Locks` made it: its terms are those of one engine. */
  isOf(runtime: LockRuntime): boolean {
    return this.#runtime === runtime;
  }

  #taken(): never {
    const { name: backend } = this.#runtime.engine.backend;
    const { name } = this.target;
    throw new LockError('LOCK_TIMEOUT', `${quoted(name)} on ${backend} is taken, and wait is 0`, {
      key: name,
      backend,
    });
  }

  /** @throws LockError `LOCK_UNSUPPORTED` when the engine cannot do what these terms ask for */
  #refuseUnsupported(terms: Terms): void {
    const { engine } = this.#runtime;
    if (terms.adaptive) AdaptiveHistory.of(engine, this.target.name, terms);
    if (terms.detect) checkWaitersListed(engine.backend, 'leave detect out, and give a wait', this.target.name);
  }

  #termsOf(options: O): Terms {
    const { terms } = this.#options.with(this.target.lockOptions(options));
    this.#refuseUnsupported(terms);
    return terms;
  }
}

/** @internal Seats of one key. */
export const oneKey = <L extends AnyLease>(
  runtime: LockRuntime,
  key: string,
  seats: Seats,
): Target<L, LockOptions> => ({
  name: key,
  lockOptions: (options) => options,
  take: (terms) => takeSeats(runtime, key, seats, terms) as Promise<AnyLease | undefined> as Promise<L | undefined>,
  inside: (lease, fn) => new Frame(runtime, heldLease(lease)).run(fn, lease),
});

/** One holder at a time. Re-enters inside `run`. */
export type Mutex = Lock<Lease>;

/** @internal */
export const mutex = (runtime: LockRuntime, key: string, defaults: LayeredOptions, given?: LockOptions): Mutex =>
  new LockObject(runtime, oneKey<Lease>(runtime, key, EXCLUSIVE), defaults, given);
