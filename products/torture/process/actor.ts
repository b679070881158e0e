import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import {
  EXCLUSIVE,
  isExclusive,
  isLockError,
  type LockError,
  type LockOptions,
  SHARED,
} from '../../../src/core/index.ts';
import type { TestLock } from '../events.ts';
import { HoldObserver, type LibraryLease, type LibraryLock, type LockLibrary, type Report } from './observer.ts';

export interface ActorContext {
  readonly locks: LockLibrary;
  readonly ttl: number;
  readonly report: Report;
  readonly random: () => number;
  /** Each operation of this process gets a name with this prefix. */
  readonly name: string;
  /** The number of its process. */
  readonly by: number;
  /** How many locks this process holds now. */
  held: number;
}

/** The longest wait of an operation: longer than any fault. */
const MAX_WAIT_MS = 20_000;
/** Time between two observations of a holder. */
const OBSERVATION_INTERVAL_MS = 40;

/** One caller of the library. The caller asks, holds, writes and releases, again and again. */
export class Actor {
  readonly #context: ActorContext;
  readonly #testLocks: readonly TestLock[];
  readonly #name: string;
  readonly #busy: boolean;
  #operations = 0;

  /** @param busy whether the caller makes its operations without pauses, and nearly all its holds are very short */
  constructor(context: ActorContext, testLocks: readonly TestLock[], number: number, busy: boolean) {
    this.#context = context;
    this.#testLocks = testLocks;
    this.#busy = busy;
    this.#name = `${context.name}.${number}`;
  }

  async work(ended: AbortSignal): Promise<void> {
    while (!ended.aborted) {
      const again = await this.#operate(ended);
      if (again && this.#busy) await nextTurn();
      else await sleep(again ? this.#between(0, 15) : this.#between(30, 150));
    }
  }

  /** @returns whether the engine answered */
  async #operate(ended: AbortSignal): Promise<boolean> {
    const { report, by } = this.#context;
    const testLock = this.#testLocks[Math.floor(this.#context.random() * this.#testLocks.length)]!;
    const op = `${this.#name}.${this.#operations++}`;
    const { lock, units, capacity } = this.#lock(testLock);
    const renewed = this.#context.random() < 0.85;
    report.add({ what: 'asked', op, by, key: testLock.key, units, capacity, renewed });
    let lease: LibraryLease | null;
    try {
      lease = await this.#acquire(lock, renewed, ended);
    } catch (error) {
      if (!isLockError(error)) throw error;
      const unavailable = isLockError(error, 'LOCK_UNAVAILABLE');
      report.add({ what: 'refused', op, code: error.code, ...(unavailable && { why: reasonOf(error) }) });
      return !unavailable;
    }
    if (lease) await this.#hold(op, lease, isExclusive({ units, capacity }), testLock.longPart, ended);
    else report.add({ what: 'refused', op, code: 'TAKEN' });
    return true;
  }

  /** The lock, and the units that the judge counts. */
  #lock({ kind, key, permits }: TestLock): { lock: LibraryLock; units: number; capacity: number } {
    const { locks } = this.#context;
    if (kind === 'semaphore') return { lock: locks.semaphore(key, { permits }), units: 1, capacity: permits };
    if (kind === 'mutex') return { lock: locks.mutex(key), ...EXCLUSIVE };
    const { read, write } = locks.rwLock(key);
    return this.#context.random() < 0.4 ? { lock: write, ...EXCLUSIVE } : { lock: read, ...SHARED };
  }

  #acquire(lock: LibraryLock, renew: boolean, ended: AbortSignal): Promise<LibraryLease | null> {
    const { ttl, random } = this.#context;
    const options: LockOptions = { ttl, renew, wait: MAX_WAIT_MS, signal: ended };
    const choice = random();
    if (choice < 0.1) return lock.tryAcquire({ ttl, renew });
    if (choice > 0.2) return lock.acquire(options);
    const impatient = AbortSignal.any([ended, AbortSignal.timeout(Math.ceil(this.#between(1, 200)))]);
    return lock.acquire({ ...options, signal: impatient });
  }

  async #hold(
    op: string,
    lease: LibraryLease,
    exclusive: boolean,
    longPart: number,
    ended: AbortSignal,
  ): Promise<void> {
    const { report, random, ttl } = this.#context;
    this.#context.held++;
    try {
      using observer = HoldObserver.begin(op, lease, report);
      if (observer) {
        if (exclusive) await report.ask({ claim: op });
        const until = report.now() + this.#holdTime(longPart);
        if (random() < 0.05) await lease.extend(ttl * 1.5).catch(() => {}); // the next observation shows the outcome
        while (observer.observe() && report.now() < until && !ended.aborted)
          await sleep(Math.max(0, Math.min(OBSERVATION_INTERVAL_MS, until - report.now())));
        // Careless code writes without a last check. The register must refuse that write.
        if (exclusive) await report.ask({ write: op });
        observer.observe(true);
      }
    } finally {
      this.#context.held--;
      await lease.release();
      report.add({ what: 'freed', op });
    }
  }

  /** How long a hold lasts, ms: mostly short, sometimes longer than a lease. */
  #holdTime(longPart: number): number {
    const { random, ttl } = this.#context;
    if (this.#busy && random() < 0.99) return 0;
    if (random() < longPart) return this.#between(ttl / 3, ttl * 1.5);
    return random() < 0.9 ? this.#between(0, 10) : this.#between(10, 100);
  }

  #between(least: number, most: number): number {
    return least + (most - least) * this.#context.random();
  }
}

/** Prefers the message of the cause: our own message names the key, so the same trouble would give many texts. */
const reasonOf = ({ cause, message }: LockError): string => (cause instanceof Error ? cause.message : message);
