import type { Seats } from '../core/contract/admission.ts';
import { invalid, LockError, shown } from '../core/contract/errors.ts';
import type { LayeredOptions, LockOptions, ResolvedOptions } from '../core/contract/options.ts';
import { quoted } from '../core/engine/engine.ts';
import { AdaptiveHistory } from '../core/holds/adaptive-history.ts';
import type { AnyLease, HeldLease } from '../core/holds/lease.ts';
import { checkWaitersListed } from '../core/line/deadlock-watch.ts';
import { Frame, obtain } from '../core/line/reentrancy.ts';
import type { LockRuntime } from '../core/line/runtime.ts';

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

/** @internal What one kind of lock takes, and how a function runs inside it. */
export interface Taking<L, O> {
  /** The key, or the keys, for people. */
  readonly name: string;
  /** What it is made of, where that is more than one lock. */
  readonly parts?: readonly Taking<AnyLease, LockOptions>[];
  /** What of a call's options is about locking in general. */
  lockOptions(options: O): LockOptions;
  /** Undefined when `wait` is 0 and it cannot be had now. It lets a loop of refusals rest, as `RefusalThrottle` wants it. */
  obtain(resolved: ResolvedOptions, options: O | undefined): Promise<L | undefined>;
  inside<T>(lease: L, fn: () => Promise<T> | T): Promise<T>;
}

/** @internal Every lock object: options are checked when it is made, and again for what a call adds. */
export class LockObject<L extends AnyLease, O extends LockOptions> implements Lock<L, O> {
  readonly #runtime: LockRuntime;
  readonly taking: Taking<L, O>;
  readonly #options: LayeredOptions;

  constructor(runtime: LockRuntime, taking: Taking<L, O>, options: LayeredOptions) {
    this.#runtime = runtime;
    this.taking = taking;
    this.#options = options;
    AdaptiveHistory.of(runtime, taking.name, options.resolved); // refused here, where the engine cannot
    this.#checkDetect(options.resolved);
  }

  // Not async, as most of what is called for each lock: an async function more costs more than it does.
  acquire(options?: O): Promise<L> {
    try {
      const resolved = this.#resolve(options);
      const obtained = this.taking.obtain(resolved, options);
      return resolved.wait > 0 ? (obtained as Promise<L>) : obtained.then((lease) => lease ?? this.#taken());
    } catch (error) {
      return this.#runtime.refusals.refuse(error);
    }
  }

  tryAcquire(options?: Omit<O, 'wait'>): Promise<L | null> {
    const given = options as O | undefined;
    try {
      return this.taking.obtain({ ...this.#resolve(given), wait: 0 }, given).then((lease) => lease ?? null);
    } catch (error) {
      return this.#runtime.refusals.refuse(error);
    }
  }

  async run<T>(fn: (lease: L) => Promise<T> | T, options?: O): Promise<T> {
    // Here: to find it out with the lock in hand would make everybody wait for nothing.
    if (typeof fn !== 'function') throw invalid(`run() needs a function, not ${shown(fn)}`, this.taking.name);
    const lease = await this.acquire(options);
    try {
      return await this.taking.inside(lease, () => fn(lease));
    } finally {
      await lease.release();
    }
  }

  /** Made by the same `Locks`: what they take and for how long is resolved for one engine. */
  isOf(runtime: LockRuntime): boolean {
    return this.#runtime === runtime;
  }

  #taken(): never {
    const { name: backend } = this.#runtime.engine.backend;
    const { name } = this.taking;
    throw new LockError('LOCK_TIMEOUT', `${quoted(name)} on ${backend} is taken, and wait is 0`, {
      key: name,
      backend,
    });
  }

  #checkDetect({ detect }: ResolvedOptions): void {
    const { backend } = this.#runtime.engine;
    if (detect) checkWaitersListed(backend, 'leave detect out, and give a wait', this.taking.name);
  }

  #resolve(options: O | undefined): ResolvedOptions {
    if (options === undefined) return this.#options.resolved;
    const { resolved } = this.#options.with(this.taking.lockOptions(options));
    this.#checkDetect(resolved);
    return resolved;
  }
}

/** @internal Takes seats of one key. */
export class OneKey<L extends AnyLease> implements Taking<L, LockOptions> {
  readonly name: string;
  readonly #runtime: LockRuntime;
  readonly #seats: Seats;

  constructor(runtime: LockRuntime, key: string, seats: Seats) {
    this.#runtime = runtime;
    this.name = key;
    this.#seats = seats;
  }

  lockOptions(options: LockOptions): LockOptions {
    return options;
  }

  obtain(resolved: ResolvedOptions): Promise<L | undefined> {
    return obtain(this.#runtime, this.name, this.#seats, resolved) as Promise<AnyLease | undefined> as Promise<
      L | undefined
    >;
  }

  inside<T>(lease: L, fn: () => Promise<T> | T): Promise<T> {
    return new Frame(this.#runtime, lease as AnyLease as HeldLease).run(fn);
  }
}
