import type { Backend, Finding, Listing, Standing } from './core/backend.ts';
import { type Clock, systemClock } from './core/clock.ts';
import { checkWaitersListed } from './core/deadlock-watch.ts';
import { invalid, LockError, shown } from './core/errors.ts';
import { checkListable, type ForceOptions, forceRelease } from './core/forced-release.ts';
import { checkKey } from './core/key.ts';
import type { AnyLease } from './core/lease.ts';
import { checkBackend, checkNames, flag, LayeredOptions, LOCK_OPTIONS, type LockOptions } from './core/options.ts';
import { LockRuntime } from './core/runtime.ts';
import { Leader } from './leading/leader.ts';
import type { LeaderOptions } from './leading/options.ts';
import { type OnceResult, once, type TickWork } from './once/once.ts';
import type { OnceOptions } from './once/options.ts';
import type { Tick } from './once/tick.ts';
import { type Lock, LockObject } from './primitives/lock.ts';
import { type MultiLock, multiLock } from './primitives/multi-lock.ts';
import { type Mutex, mutex } from './primitives/mutex.ts';
import { type RwLock, rwLock } from './primitives/rw-lock.ts';
import { type Semaphore, type SemaphoreOptions, semaphore } from './primitives/semaphore.ts';
import { Detector } from './waits/detector.ts';
import { type Waits, waitsOf } from './waits/waits.ts';

/** What all locks made from here share unless they say otherwise. */
export interface LocksDefaults extends LockOptions {
  /** Time, timers and randomness; the machine's by default. For tests. */
  readonly clock?: Clock;
  /**
   * Stay awake for up to 0.25 ms while a call to the engine is under way alone, where answers come that soon. Default false. True
   * makes a lone caller next to a fast engine quicker, and costs processor time. Useless on a machine with one core.
   */
  readonly busyPoll?: boolean;
}

/** Whom `waits` tells that it goes on. */
export type WaitsOptions = Pick<Listing, 'progress'>;

const DEFAULTS: ReadonlySet<string> = new Set([...LOCK_OPTIONS, 'clock', 'busyPoll']);
const INSPECT_OPTIONS = new Set(['exact', 'progress'] satisfies readonly (keyof Listing)[]);
const WAITS_OPTIONS = new Set(['progress'] satisfies readonly (keyof WaitsOptions)[]);

/**
 * Locks on one engine.
 * @param defaults options of every lock made from it
 * @throws LockError `LOCK_INVALID`; `LOCK_UNSUPPORTED` on a Node.js that is too old
 * @example await using locks = createLocks(memory(), { wait: '5s' }); // its end does the same as locks.close()
 */
export function createLocks(backend: Backend, defaults: LocksDefaults = {}): Locks {
  checkPlatform();
  checkNames(defaults, DEFAULTS, 'the defaults of createLocks()');
  return new Locks(checkBackend(backend, 'createLocks()'), defaults);
}

/** Else locks would be taken there, and close() would fail. Asked for what is used, since other runtimes have versions of their own. */
function checkPlatform(): void {
  if (typeof Promise.withResolvers === 'function') return;
  throw new LockError('LOCK_UNSUPPORTED', `holdfast needs Node.js 22.13 or newer; this is ${process.version}`);
}

/** @internal What all locks of one `Locks` share; `taker` asks for it. */
export let runtimeOf: (locks: Locks, taker: string) => LockRuntime;

/** Locks on one engine, as `createLocks` makes them: the mutexes, semaphores and leaders of a program. */
export class Locks implements AsyncDisposable {
  static {
    runtimeOf = (locks, taker) => {
      if (typeof locks === 'object' && locks !== null && #runtime in locks) return locks.#runtime;
      throw invalid(
        `${taker} takes Locks, of createLocks() or connect() of this copy of holdfast, not ${shown(locks)}`,
      );
    };
  }

  readonly #runtime: LockRuntime;
  readonly #backend: Backend;
  readonly #defaults: LockOptions;
  readonly #options: LayeredOptions;

  /** @internal Use `createLocks`. */
  constructor(backend: Backend, { clock = systemClock, busyPoll = false, ...defaults }: LocksDefaults) {
    this.#backend = backend;
    this.#runtime = new LockRuntime(backend, clock, flag(busyPoll, 'busyPoll'));
    this.#runtime.deadlocks = new Detector(this.#runtime);
    this.#defaults = defaults;
    this.#options = new LayeredOptions(backend.traits, defaults);
    mutex(this.#runtime, 'defaults', this.#options); // checks them now, not at the first lock
  }

  /** Which of all `Locks` in this process: what its events tell as `locks`. */
  get number(): number {
    return this.#runtime.number;
  }

  /**
   * One holder at a time.
   * @example await locks.mutex('order:42').run((lease) => writeOrder(lease.token));
   */
  mutex(key: string, options?: LockOptions): Mutex {
    return mutex(this.#runtime, checkKey(key), this.#options.with(options));
  }

  /**
   * Many readers, or one writer.
   * @throws LockError `LOCK_UNSUPPORTED` where the engine cannot share
   * @example await locks.rwLock('config').read.run((lease) => rebuild(lease.signal));
   */
  rwLock(key: string, options?: LockOptions): RwLock {
    return rwLock(this.#runtime, checkKey(key), this.#options.with(options));
  }

  /**
   * So many permits at a time.
   * @throws LockError `LOCK_UNSUPPORTED` where the engine cannot count
   * @example await locks.semaphore('partner', { permits: 10 }).run(() => work());
   */
  semaphore(key: string, options: SemaphoreOptions): Semaphore {
    return semaphore(this.#runtime, checkKey(key), options, this.#options);
  }

  /**
   * All or none, without deadlock whatever the order. A plain key stands for its mutex; a semaphore for one permit. How they are
   * taken is said by `options`; those of the parts do not count.
   * @example await locks.all(['account:1', 'account:2']).run((lease) => pay(lease.tokens));
   */
  all(parts: readonly (string | Lock)[], options?: LockOptions): MultiLock {
    if (!Array.isArray(parts)) throw invalid(`all() takes a list of keys and locks, not ${shown(parts)}`);
    const locks = (parts as readonly (string | Lock)[]).map((part) => {
      const lock = typeof part === 'string' ? this.mutex(part) : part;
      if (!(lock instanceof LockObject)) throw invalid(`all() takes keys and locks, not ${shown(part)}`);
      return lock as LockObject<AnyLease, LockOptions>;
    });
    return multiLock(this.#runtime, locks, this.#options.with(options));
  }

  /**
   * One of all candidates of this name leads at a time. The key is the name's own: it excludes a mutex of the same name, too.
   * @throws LockError `LOCK_INVALID`
   * @example await locks.leader('feed').run((term) => work(term.signal), { signal });
   */
  leader(name: string, options?: LeaderOptions): Leader {
    return new Leader(this.#runtime, checkKey(name), this.#defaults, options);
  }

  /**
   * Runs `fn` for a tick of a schedule, unless another instance does or has: of all that call this for the same name and tick, whose
   * clocks differ by at most `skew`, one runs it. With `retry`, one at a time, and after a success nobody.
   * @param tick when it is due: the time that the schedule says, not that of the call
   * @returns what came of it here; rejects with what `fn` throws
   * @throws LockError `LOCK_UNAVAILABLE` when the engine could not be asked while the tick was young; `LOCK_ABORTED`, `LOCK_LOST`,
   * `LOCK_CLOSED`, `LOCK_INVALID`; `LOCK_UNSUPPORTED` where nothing outlives the process
   * @example await locks.once('report', '2026-05-04T03:00:00Z', (run) => report(run.token));
   */
  once<T>(name: string, tick: Tick, fn: TickWork<T>, options?: OnceOptions): Promise<OnceResult<T>> {
    return once(this.#runtime, name, tick, fn, this.#defaults, options);
  }

  /**
   * Who holds and who waits, key by key in the order of their lines. It takes as long as the engine needs to look through its keys;
   * each request of it has a limit.
   * @param prefix only keys that begin with it; with `exact`, the key itself
   * @throws LockError `LOCK_UNSUPPORTED`; `LOCK_UNAVAILABLE` when the engine cannot be asked
   * @example for await (const { key, held, label } of locks.inspect('order:')) console.log(key, held, label);
   */
  inspect(prefix = '', options: Listing = {}): AsyncIterable<Standing> {
    checkListable(this.#backend, prefix);
    checkNames(options, INSPECT_OPTIONS, 'the options of inspect');
    const { exact = false, progress } = options;
    return this.#runtime.engine.inspect(prefix, { exact: flag(exact, 'exact'), ...(progress && { progress }) });
  }

  /**
   * Who waits for whom, and which of them never end: deadlocks, seen in two looks 200 ms apart. It lists all keys that begin with `prefix`;
   * of another process's waiters it sees those that stand in the engine's line, which all with `detect` do.
   * @throws LockError `LOCK_UNSUPPORTED`; `LOCK_UNAVAILABLE` when the engine cannot be asked
   * @example const { deadlocks } = await locks.waits('order:');
   */
  async waits(prefix = '', options: WaitsOptions = {}): Promise<Waits> {
    checkNames(options, WAITS_OPTIONS, 'the options of waits');
    checkListable(this.#backend, prefix);
    checkWaitersListed(this.#backend, 'see who holds with inspect()');
    return waitsOf(this.#runtime, prefix, options);
  }

  /**
   * Evicts every holder of the key, readers and permits too, not those who wait. The robbed are told at their next contact,
   * and fenced by the next token. For people who know that the holder is gone or stuck.
   * @returns how many were evicted
   * @throws LockError `LOCK_UNSUPPORTED`; `LOCK_UNAVAILABLE` when nobody knows whether they were
   * @example await locks.forceRelease('order:42', { reason: 'its machine is gone' });
   */
  forceRelease(key: string, options: ForceOptions): Promise<number> {
    return forceRelease(this.#runtime, key, options);
  }

  /**
   * What endangers locks on this server, and what to do about it. Empty: nothing was found.
   * @throws LockError `LOCK_UNAVAILABLE` when the engine cannot be asked
   * @example for (const { severity, message, advice } of await locks.check()) console.warn(severity, message, advice);
   */
  check(): Promise<Finding[]> {
    return this.#runtime.engine.check();
  }

  /** Rejects who waits, releases what is held, ends our own connections. The client you gave stays open. */
  close(): Promise<void> {
    return this.#runtime.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
