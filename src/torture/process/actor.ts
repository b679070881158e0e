import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { ALL_SEATS, isExclusive, SHARED } from '../../core/contract/admission.ts';
import { isLockError, type LockError } from '../../core/contract/errors.ts';
import type { LockOptions } from '../../core/contract/options.ts';
import type { Prize } from '../messages.ts';
import type { Doors, Holding, Wanted } from './doors.ts';
import { Looks } from './look.ts';
import type { Report } from './report.ts';

export interface Scene {
  readonly locks: Doors;
  readonly ttl: number;
  readonly report: Report;
  readonly random: () => number;
  /** The prefix of the names of its wishes. */
  readonly name: string;
  /** The number of its process. */
  readonly by: number;
  /** How many locks this process holds now. */
  held: number;
}

/** `calm`: with pauses between its wishes. `busy`: as many holds as the engine can give. */
export type Pace = 'calm' | 'busy';

/** The longest wait of a wish, ms: longer than any fault. */
const PATIENCE = 20_000;
/** Time between two looks of a holder, ms. */
const LOOK = 40;

/** One caller of the library. It asks, holds, writes and releases, again and again. */
export class Actor {
  readonly #scene: Scene;
  readonly #prizes: readonly Prize[];
  readonly #name: string;
  readonly #pace: Pace;
  #wishes = 0;

  constructor(scene: Scene, prizes: readonly Prize[], number: number, pace: Pace = 'calm') {
    this.#scene = scene;
    this.#prizes = prizes;
    this.#pace = pace;
    this.#name = `${scene.name}.${number}`;
  }

  async work(ended: AbortSignal): Promise<void> {
    while (!ended.aborted) {
      const again = await this.#wish(ended);
      if (again && this.#pace === 'busy') await nextTurn();
      else await sleep(again ? this.#between(0, 15) : this.#between(30, 150));
    }
  }

  /** @returns whether the engine answered */
  async #wish(ended: AbortSignal): Promise<boolean> {
    const { report, by } = this.#scene;
    const prize = this.#pick(this.#prizes);
    const op = `${this.#name}.${this.#wishes++}`;
    const { lock, take, of } = this.#lock(prize);
    report.tell({ what: 'asked', op, by, key: prize.key, take, of });
    let lease: Holding | null;
    try {
      lease = await this.#obtained(lock, ended);
    } catch (error) {
      if (!isLockError(error)) throw error;
      const unavailable = isLockError(error, 'LOCK_UNAVAILABLE');
      report.tell({ what: 'refused', op, code: error.code, ...(unavailable && { why: reasonOf(error) }) });
      return !unavailable;
    }
    if (lease) await this.#hold(op, lease, isExclusive({ take, of }), prize.long, ended);
    else report.tell({ what: 'refused', op, code: 'TAKEN' });
    return true;
  }

  /** The lock, and the seats that the judge counts. */
  #lock({ as, key, permits }: Prize): { lock: Wanted; take: number; of: number } {
    const { locks } = this.#scene;
    const all = { take: ALL_SEATS, of: ALL_SEATS };
    if (as === 'semaphore') return { lock: locks.semaphore(key, { permits }), take: 1, of: permits };
    if (as === 'mutex') return { lock: locks.mutex(key), ...all };
    const { read, write } = locks.rwLock(key);
    return this.#scene.random() < 0.4 ? { lock: write, ...all } : { lock: read, ...SHARED };
  }

  #obtained(lock: Wanted, ended: AbortSignal): Promise<Holding | null> {
    const { ttl, random } = this.#scene;
    const options: LockOptions = { ttl, renew: random() < 0.85, wait: PATIENCE, signal: ended };
    const way = random();
    if (way < 0.1) return lock.tryAcquire({ ttl });
    if (way > 0.2) return lock.acquire(options);
    const impatient = AbortSignal.any([ended, AbortSignal.timeout(Math.ceil(this.#between(1, 200)))]);
    return lock.acquire({ ...options, signal: impatient });
  }

  async #hold(op: string, lease: Holding, exclusive: boolean, long: number, ended: AbortSignal): Promise<void> {
    const { report, random, ttl } = this.#scene;
    this.#scene.held++;
    try {
      using looks = Looks.begin(op, lease, report);
      if (looks) {
        if (exclusive) await report.ask({ claim: op });
        const until = report.now() + this.#length(long);
        if (random() < 0.05) await lease.extend(ttl * 1.5).catch(() => {}); // the next look sees the outcome
        while (looks.holds() && report.now() < until && !ended.aborted)
          await sleep(Math.max(0, Math.min(LOOK, until - report.now())));
        // Careless code writes without a last look. The register must refuse that write.
        if (exclusive) await report.ask({ write: op });
        looks.leaves();
      }
    } finally {
      this.#scene.held--;
      await lease.release();
      report.tell({ what: 'freed', op });
    }
  }

  /** How long a hold lasts, ms: mostly short, sometimes longer than a lease. */
  #length(long: number): number {
    const { random, ttl } = this.#scene;
    if (this.#pace === 'busy' && random() < 0.99) return 0;
    if (random() < long) return this.#between(ttl / 3, ttl * 1.5);
    return random() < 0.9 ? this.#between(0, 10) : this.#between(10, 100);
  }

  #between(least: number, most: number): number {
    return least + (most - least) * this.#scene.random();
  }

  #pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.#scene.random() * list.length)]!;
  }
}

/** Without our own words about it, which name the key: so the same trouble is the same text. */
const reasonOf = ({ cause, message }: LockError): string => (cause instanceof Error ? cause.message : message);
