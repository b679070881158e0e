import type { NewValue, ValueState } from '../contract/backend.ts';
import { Context, inNoContext } from '../contract/clock.ts';
import { type Duration, milliseconds } from '../contract/duration.ts';
import { invalid, LockError, quoted, shown } from '../contract/errors.ts';
import { leaseBounds } from '../contract/terms.ts';
import type { StoreOutcome } from '../contract/values.ts';
import type { Engine } from '../engine/engine.ts';
import { extendHold } from './extension.ts';
import type { Hold } from './hold.ts';

/** If the timer of a hold is overdue by this many ms, it will never fire: a test had fake timers when it was set. */
const OVERDUE_MS = 1_000;

/** @throws LockError when the lease is not held, or when its holder was notified of the loss, though the deadline is still to come */
export function assertKept(lease: HeldLease): void {
  lease.assertHeld();
  if (lease.hold.loss) throw lease.hold.loss;
}

/** @internal A caller's view of a hold; several views share one hold while a lock is re-entered. */
export class HeldLease implements AnyLease {
  readonly key: string;
  readonly token: bigint | undefined;
  /** The hold is private because people log leases, and a hold contains the id. */
  readonly #hold: Hold;
  readonly #engine: Engine;
  readonly #giveBack: ((lease: HeldLease) => Promise<boolean>) | undefined;
  readonly #leavePlace: (() => Promise<boolean>) | undefined;
  readonly #watched: boolean;
  #released = false;
  #users = 1;
  #signal: AbortSignal | undefined;
  #unlisten: (() => void) | undefined;

  /**
   * @param watched whether the caller has to release the lease: then a warning is printed if the lease is dropped
   * @param giveBack what a release does, called once. Default: its caller leaves
   * @param leavePlace what the last of its users does, in the frame that this lease has re-entered. Default: the last user releases the hold
   */
  constructor(
    engine: Engine,
    hold: Hold,
    watched: boolean,
    giveBack?: (lease: HeldLease) => Promise<boolean>,
    leavePlace?: () => Promise<boolean>,
  ) {
    this.#engine = engine;
    this.#hold = hold;
    this.#giveBack = giveBack;
    this.#leavePlace = leavePlace;
    this.key = hold.claim.key;
    this.token = hold.exclusive ? hold.token : undefined;
    this.#watched = watched && hold.terms.renew;
    if (this.#watched) hold.listeners.addLease(this);
  }

  get hold(): Hold {
    return this.#hold;
  }

  /** The number of callers that have not left: the caller of the lease, and those that entered its frame. */
  get users(): number {
    return this.#users;
  }

  /** Lets one more caller share the lease. */
  enter(): void {
    this.#users++;
  }

  /** Lets one caller leave. @returns whether this call freed the hold */
  leave(): Promise<boolean> {
    if (--this.#users > 0) return Promise.resolve(false);
    return this.#leavePlace ? this.#leavePlace() : this.#hold.release();
  }

  /** The number that the events of this hold have as `request`. */
  get request(): number | undefined {
    return this.#hold.owner?.events.number;
  }

  get signal(): AbortSignal {
    this.#signal ??= this.#signalOfLoss();
    return this.#signal;
  }

  #signalOfLoss(): AbortSignal {
    const controller = new AbortController();
    if (!this.#released || this.#hold.loss) {
      const context = new Context();
      this.#unlisten = this.#hold.listeners.onLoss((loss) => context.run(() => controller.abort(loss)));
    }
    return controller.signal;
  }

  get held(): boolean {
    if (this.#released) return false;
    this.#engine.clock.resync(); // the machine may have slept since the last look
    const hold = this.#hold;
    if (!hold.over) hold.keeper.attend(hold);
    const overdue = !hold.over && this.#engine.clock.now() > hold.timing.deadline + OVERDUE_MS;
    if (overdue) inNoContext(queueMicrotask, () => hold.expire());
    return hold.held;
  }

  get remaining(): number {
    return this.held ? this.#hold.timing.deadline - this.#engine.clock.now() : 0;
  }

  assertHeld(): void {
    if (this.held) return;
    const { name: backend } = this.#engine.backend;
    const details = { key: this.key, backend };
    const lease = `the lease of ${quoted(this.key)}`;
    if (this.#released) throw new LockError('LOCK_NOT_HELD', `${lease} was released before`, details);
    throw this.#hold.loss ?? new LockError('LOCK_LOST', `${lease} on ${backend} ran out. Stop writing`, details);
  }

  async extend(ttl: Duration): Promise<void> {
    const ms = milliseconds(ttl, 'ttl', leaseBounds(this.#engine.backend.traits, this.#hold.terms.delay));
    const extend = () => extendHold(this.#hold, ms, () => assertKept(this));
    await this.#engine.extensions.take(this.#hold.claim.id, extend);
  }

  release(): Promise<boolean> {
    if (this.#released) return Promise.resolve(false);
    this.#released = true;
    if (this.#watched) this.#hold.listeners.removeLease(this);
    const given = this.#giveBack ? this.#giveBack(this) : this.leave();
    // The listener stays until the release has ended, since the release may find that the hold is lost.
    if (this.#unlisten) given.then(this.#unlisten, this.#unlisten);
    return given;
  }

  /** Releases, and stores a value under the key in that step. It is only for a lease from an `Inquiry`. Never throws. */
  releaseWith(value: NewValue, state: ValueState): Promise<StoreOutcome> {
    this.#released = true;
    if (this.#users > 1) this.#hold.lose('the memo around it has its result'); // callers inside learn it first
    return this.#hold.keeper.releaseWith(this.#hold, value, state);
  }

  toJSON(): LeaseRecord {
    const { key, held, remaining, token } = this;
    return { key, held, remaining, ...(token !== undefined && { token: `${token}` }) };
  }

  /** Releases the lease without `minHold`, as if it had not been granted. If other callers share the hold, `minHold` stays. */
  undo(): Promise<boolean> {
    if (this.#users === 1 && !this.#leavePlace) this.#hold.timing.keptUntil = 0;
    return this.release();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const released = this.release();
    if (this.#hold.terms.awaitRelease || !this.#engine.unawaited.add(released)) await released;
  }
}

/** @internal Gives the lease as the core made it. @throws LockError `LOCK_INVALID` if `lease` is no lease of one key */
export function heldLease(lease: unknown): HeldLease {
  if (lease instanceof HeldLease) return lease;
  throw invalid(`${shown(lease)} is no lease, as acquire() and run() give it`);
}

/** A hold, as one caller has it. The clock decides if it is held, so ask `held` right before a step that must not happen twice. */
export interface AnyLease extends AsyncDisposable {
  /** The key that is held; of `all()`, all keys. */
  readonly key: string;
  /**
   * It aborts when the hold is lost, `notice` before the deadline; its reason is the `LOCK_LOST` error. Its listeners run in the async context in
   * which this lease was first asked for the signal; also inside `run` they cannot enter the lock again.
   */
  readonly signal: AbortSignal;
  /**
   * Compares the deadline with the clock. It is false from the deadline on, after a release, and as soon as the engine says that the hold
   * is gone. After `signal` has aborted, it stays true until the deadline: nobody else gets the lock before that.
   */
  readonly held: boolean;
  /** The time until the deadline, ms, if no renewal comes; 0 if not held. */
  readonly remaining: number;
  /**
   * @throws LockError `LOCK_LOST`, `LOCK_NOT_HELD` after a release
   * @example
   * await locks.mutex('order:42').run(async (lease) => {
   *   await work(lease.signal);
   *   lease.assertHeld(); // right before what must not happen twice
   * });
   */
  assertHeld(): void;
  /**
   * Makes the lease last at least `ttl` from now, and from each later renewal; never shorter than before. If an earlier renewal was never answered,
   * each later renewal confirms at most the ttl of the unanswered renewal: see `remaining`.
   * @throws LockError `LOCK_LOST`, `LOCK_NOT_HELD`; `LOCK_UNAVAILABLE` when the outcome is unknown (the old deadline stands)
   * @example
   * await using lease = await locks.mutex('export').acquire({ renew: false });
   * await lease.extend('2m');
   */
  extend(ttl: Duration): Promise<void>;
  /**
   * Releases the lease, and gives whether this call freed it. It gives false after a loss, at a second call, while an outer `run` still holds, or
   * without an answer of the engine within 5 s: then the release goes on in the background. Never throws.
   * @example
   * const lease = await locks.mutex('order:42').acquire();
   * const freed = await lease.release();
   */
  release(): Promise<boolean>;
  /**
   * Gives what belongs into a log, with the token as text, because JSON has no bigint.
   * @example
   * await using lease = await locks.mutex('order:42').acquire();
   * console.log(lease.toJSON()); // what JSON.stringify(lease) shows
   */
  toJSON(): LeaseRecord;
  /** Releases; never throws. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** A lease as JSON shows it, at that moment. */
export interface LeaseRecord {
  /** The key that is held; of `all()`, all keys. */
  readonly key: string;
  /** Whether it was held. */
  readonly held: boolean;
  /** The time until the deadline, ms, if no renewal comes; 0 if not held. */
  readonly remaining: number;
  /** The fencing token in digits; only of exclusive holds. */
  readonly token?: string;
}

/** A lease of readers and permits: without a token, since several hold at once. */
export interface SharedLease extends AnyLease {
  /** None. */
  readonly token?: undefined;
}

/** A lease of a mutex or a writer: with a token, since nobody holds beside it. */
export interface Lease extends AnyLease {
  /** The fencing token: it grows with every exclusive grant of the key. The guarded resource refuses an older token. */
  readonly token: bigint;
}
