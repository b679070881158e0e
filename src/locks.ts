import {
  addUser,
  allOf,
  type Backend,
  type Clock,
  checkBackend,
  checkKey,
  checkListable,
  checkNames,
  type Engine,
  type Finding,
  type ForceOptions,
  flag,
  forceRelease,
  invalid,
  LayeredOptions,
  type Listing,
  LOCK_OPTIONS,
  LockError,
  type LockOptions,
  LockRuntime,
  namesOf,
  type QueueEntry,
  shown,
  systemClock,
} from './core/index.ts';
import { type Leader, leaderOf } from './leading/leader.ts';
import type { LeaderOptions } from './leading/options.ts';
import type { Memo, MemoOptions } from './memo/memo.ts';
import { Memos } from './memo/memos.ts';
import { Ticks } from './once/once.ts';
import type { OnceOptions } from './once/options.ts';
import type { OnceResult, TickWork } from './once/run.ts';
import type { Tick } from './once/tick.ts';
import { type Lock, type Mutex, mutex } from './primitives/lock.ts';
import { type MultiLock, multiLock, partsOf } from './primitives/multi-lock.ts';
import { type RwLock, rwLock } from './primitives/rw-lock.ts';
import { type Semaphore, type SemaphoreOptions, semaphore } from './primitives/semaphore.ts';
import { Detector } from './waits/detector.ts';
import { type Waits, type WaitsOptions, waitsOf } from './waits/waits.ts';

/** Options that all locks of one `Locks` share, unless a lock has its own. */
export interface LocksDefaults extends LockOptions {
  /** Time, timers and randomness. Default: those of the machine. For tests. */
  readonly clock?: Clock;
}

const DEFAULTS = allOf(LOCK_OPTIONS, namesOf<Omit<LocksDefaults, keyof LockOptions>>({ clock: true }));
const INSPECT_OPTIONS = namesOf<Listing>({ exact: true, progress: true });

/**
 * Locks on one engine.
 * @param defaults options of every lock of these `Locks`
 * @throws LockError `LOCK_INVALID`; `LOCK_UNSUPPORTED` on a Node.js that is too old
 * @example await using locks = createLocks(memory(), { wait: '5s' }); // the end of the block does the same as locks.close()
 */
export function createLocks(backend: Backend, defaults: LocksDefaults = {}): Locks {
  checkPlatform();
  checkNames(defaults, DEFAULTS, 'the defaults of createLocks()');
  const locks = new Locks(checkBackend(backend, 'createLocks()'), defaults);
  addUser(backend); // only now: a caller that got no Locks cannot close them
  return locks;
}

/** On an older Node.js close() would fail. Other runtimes have versions of their own, so this looks for the feature. */
function checkPlatform(): void {
  if (typeof Promise.withResolvers === 'function') return;
  throw new LockError('LOCK_UNSUPPORTED', `holdfast needs Node.js 22.13 or newer; this is ${process.version}`);
}

const runtimes = new WeakMap<object, LockRuntime>();

/** @internal Gives the runtime of these `Locks`. @param taker the name of the caller, for the error */
export function runtimeOf(locks: Locks, taker: string): LockRuntime {
  const runtime = runtimes.get(Object(locks));
  if (runtime) return runtime;
  throw invalid(`${taker} takes Locks of createLocks() or connect() of this copy of holdfast, not ${shown(locks)}`);
}

/** Locks on one engine, as `createLocks` makes them: the mutexes, semaphores and leaders of a program. */
export class Locks implements AsyncDisposable {
  /** The number of this `Locks` in the process; its events have it as `locks`. */
  readonly number: number;
  readonly #runtime: LockRuntime;
  readonly #options: LayeredOptions;
  readonly #ticks: Ticks;
  readonly #memos: Memos;

  /** @internal Use `createLocks`. */
  constructor(backend: Backend, { clock = systemClock, ...defaults }: LocksDefaults) {
    this.#runtime = new LockRuntime(backend, clock);
    runtimes.set(this, this.#runtime);
    this.number = this.#runtime.number;
    this.#runtime.deadlocks = new Detector(this.#runtime);
    this.#options = new LayeredOptions(backend.traits, defaults);
    this.#ticks = new Ticks(this.#runtime, defaults);
    this.#memos = new Memos(this.#runtime, defaults);
    mutex(this.#runtime, 'defaults', this.#options); // checks the defaults now, and not at the first lock
  }

  /**
   * A lock with one holder at a time.
   * @example await locks.mutex('order:42').run((lease) => writeOrder(lease.token));
   */
  mutex(key: string, options?: LockOptions): Mutex {
    return mutex(this.#runtime, checkKey(key), this.#options, options);
  }

  /**
   * A lock with many readers, or one writer.
   * @throws LockError `LOCK_UNSUPPORTED` if the engine cannot share
   * @example await locks.rwLock('config').read.run((lease) => rebuild(lease.signal));
   */
  rwLock(key: string, options?: LockOptions): RwLock {
    return rwLock(this.#runtime, checkKey(key), this.#options, options);
  }

  /**
   * A lock with a number of permits.
   * @throws LockError `LOCK_UNSUPPORTED` if the engine cannot count
   * @example await locks.semaphore('partner', { permits: 10 }).run(() => work());
   */
  semaphore(key: string, options: SemaphoreOptions): Semaphore {
    return semaphore(this.#runtime, checkKey(key), options, this.#options);
  }

  /**
   * One lock of several: all or none, without deadlock in any order. A key means its mutex, a semaphore one permit. Options of the parts have no
   * effect.
   * @example await locks.all(['account:1', 'account:2']).run((lease) => pay(lease.tokens));
   */
  all(parts: readonly (string | Lock)[], options?: LockOptions): MultiLock {
    const locks = partsOf(parts, (key) => this.mutex(key));
    return multiLock(this.#runtime, locks, this.#options, options);
  }

  /**
   * One of all candidates of this name leads at a time. The key is the name itself, so it also excludes a mutex of that name.
   * @throws LockError `LOCK_INVALID`
   * @example await locks.leader('feed').run((term) => work(term.signal), { signal });
   */
  leader(name: string, options?: LeaderOptions): Leader {
    return leaderOf(this.#runtime, checkKey(name), this.#options.given, options);
  }

  /**
   * Runs `fn` for a tick of a schedule, unless another instance runs or has run it; their clocks may differ by `skew`. A tick whose `fn` throws is
   * done, too: the others get the reason `failed`. With `retry` they try in turn, until one succeeds. An error of `fn` is thrown here.
   * @param tick when the job is due: the time of the schedule, not of the call
   * @throws LockError `LOCK_UNAVAILABLE` if the engine did not answer while the tick was young; `LOCK_ABORTED`, `LOCK_LOST`, `LOCK_CLOSED`,
   * `LOCK_INVALID`; `LOCK_UNSUPPORTED` if the engine cannot record the run
   * @example await locks.once('report', '2026-05-04T03:00:00Z', (run) => report(run.token));
   */
  once<T>(name: string, tick: Tick, fn: TickWork<T>, options?: OnceOptions): Promise<OnceResult<T>> {
    return this.#ticks.once(name, tick, fn, options);
  }

  /**
   * A key that keeps a result: one of all callers runs the function, and all get its result. Not on every engine: `LOCK_UNSUPPORTED`.
   * @example const { value } = await locks.memo('report', { keep: '1d' }).run((run) => report(run.token));
   */
  memo<T = unknown>(key: string, options?: MemoOptions<T>): Memo<T> {
    return this.#memos.memo(checkKey(key), options);
  }

  /**
   * Lists who holds and who waits, key by key, in the order of their queues. It takes as long as the engine needs to read its keys.
   * @param prefix only keys that begin with it; with `exact`, the key itself
   * @throws LockError `LOCK_UNSUPPORTED`; `LOCK_UNAVAILABLE` if the engine does not answer
   * @example for await (const { key, held, label } of locks.inspect('order:')) console.log(key, held, label);
   */
  inspect(prefix = '', options: Listing = {}): AsyncIterable<QueueEntry> {
    return inspected(this.#runtime.engine, prefix, options);
  }

  /**
   * Whether anybody holds the key, also a reader or a permit, at the moment of the answer. Before you act on it, take the lock (`tryAcquire`).
   * @throws LockError `LOCK_UNSUPPORTED`; `LOCK_UNAVAILABLE` if the engine does not answer
   * @example if (await locks.isHeld('report')) console.log('it is being made');
   */
  async isHeld(key: string): Promise<boolean> {
    for await (const { held } of this.inspect(checkKey(key), { exact: true })) return held; // the holders come first
    return false;
  }

  /**
   * Finds which claim waits for which other one, and the deadlocks, confirmed by later looks. It lists all keys that begin with `prefix`. Of another
   * process it sees only waiters in the engine's queue, such as those with `detect`.
   * @throws LockError `LOCK_UNSUPPORTED`; `LOCK_UNAVAILABLE` if the engine does not answer
   * @example const { deadlocks } = await locks.waits('order:');
   */
  waits(prefix = '', options: WaitsOptions = {}): Promise<Waits> {
    return waitsOf(this.#runtime, prefix, options);
  }

  /**
   * Evicts every holder of the key, also readers and permits, but no waiters; the next token fences them. They are notified at their next contact,
   * with the reason and the `label` of this `Locks` if the engine keeps hints. Use it only if the holder is gone or stuck.
   * @returns how many were evicted
   * @throws LockError `LOCK_UNSUPPORTED`; `LOCK_UNAVAILABLE` if nobody knows the outcome
   * @example await locks.forceRelease('order:42', { reason: 'its machine is gone' });
   */
  forceRelease(key: string, options: ForceOptions): Promise<number> {
    return forceRelease(this.#runtime, key, options, this.#options.given.label);
  }

  /**
   * Finds what endangers locks on this server, and what to do about it. Empty: nothing was found.
   * @throws LockError `LOCK_UNAVAILABLE` if the engine does not answer
   * @example for (const { severity, message, advice } of await locks.check()) console.warn(severity, message, advice);
   */
  check(): Promise<Finding[]> {
    return this.#runtime.engine.check();
  }

  /** Rejects all waits and releases all holds. The last `Locks` over a backend closes our own connections; your client stays open. */
  close(): Promise<void> {
    return this.#runtime.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

function inspected(engine: Engine, prefix: string, options: Listing): AsyncIterable<QueueEntry> {
  checkListable(engine.backend, prefix);
  checkNames(options, INSPECT_OPTIONS, 'the options of inspect');
  const { exact = false, progress } = options;
  return engine.inspect(prefix, { exact: flag(exact, 'exact'), ...(progress && { progress }) });
}
