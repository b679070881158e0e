import {
  heldLease,
  isLockError,
  LayeredOptions,
  type Lease,
  type LockOptions,
  type LockRuntime,
} from '../core/index.ts';
import { type Mutex, mutex } from '../primitives/lock.ts';
import { insist } from './insist.ts';
import type { OncePlan } from './options.ts';
import { FailureMark, holderOf, isRecorded, type TickRecord } from './record.ts';
import type { NotRun, OnceResult, TickWork } from './result.ts';
import { type Guard, HeldRun } from './run.ts';
import { keepFrom, matters, mayBegin, timeLeft } from './window.ts';

/** What one instance does for one tick, which is young. */
export class TickAttempt {
  readonly #runtime: LockRuntime;
  readonly #name: string;
  readonly #plan: OncePlan;
  readonly #record: TickRecord | undefined;
  readonly #failure: FailureMark;
  /** The others leave the tick to this instance: its function has begun, or may have been noted. */
  #committed = false;

  constructor(runtime: LockRuntime, name: string, plan: OncePlan, record: TickRecord | undefined) {
    this.#runtime = runtime;
    this.#name = name;
    this.#plan = plan;
    this.#record = record;
    this.#failure = new FailureMark(runtime, plan);
  }

  /**
   * If the engine does not answer, it asks again while the tick is young, since otherwise nobody would run it.
   * @throws LockError `LOCK_UNAVAILABLE` if the tick is late by then
   */
  async use<T>(fn: TickWork<T>): Promise<OnceResult<T>> {
    const mayAgain = (): boolean => !this.#committed;
    return insist(this.#runtime.engine, this.#plan, (tries) => this.#stand(fn, tries), mayAgain);
  }

  async #stand<T>(fn: TickWork<T>, tries: number): Promise<OnceResult<T>> {
    const { window, keys } = this.#plan;
    const lease = await this.#take(tries);
    if (!lease) return this.#notRun('taken', keys.run);
    const guards: Guard[] = [{ lease, isNeeded: () => matters(window, this.#now) }];
    let leftOut = false;
    try {
      const reason = await this.#waitOrGiveUp(guards, tries);
      leftOut = reason === 'overlap';
      if (reason === undefined) return await this.#run(fn, guards);
      if (leftOut && this.#record) await isRecorded(this.#record, this.#runtime.engine, lease.signal);
      return await this.#notRun(reason, leftOut ? keys.running : keys.done);
    } finally {
      for (const { lease: other } of guards.slice(1)) await other.release();
      // The decision to leave it out holds for all instances, as a run does.
      const decided = leftOut || this.#committed;
      await (decided ? lease.release() : heldLease(lease).undo());
    }
  }

  /**
   * Why the tick is not run, though this instance holds the key of the run. Undefined: it is run, and all other needed keys are
   * held.
   */
  async #waitOrGiveUp(guards: Guard[], tries: number): Promise<NotRun | undefined> {
    const { window, retry, overlap, keys } = this.#plan;
    if (await this.#record?.exists()) return retry ? 'done' : 'taken';
    if (overlap !== 'allow') {
      const lease = await this.#obtain(this.#mutex(keys.running), this.#waitFor(this.#patience, tries));
      if (!lease) return 'overlap';
      guards.push({ lease, isNeeded: () => true });
    }
    if (!retry && this.#record) await this.#commit(this.#record, guards[0]!.lease);
    return mayBegin(window, this.#now) ? undefined : 'late';
  }

  /**
   * From the first try on the others may find the record, and leave the tick to this instance. So it asks until it is answered,
   * with the key in hand: without it, another may have left the record that it finds.
   */
  async #commit(record: TickRecord, lease: Lease): Promise<void> {
    const mayAgain = (): boolean => lease.held && !this.#plan.signal?.aborted;
    this.#committed = true;
    await insist(this.#runtime.engine, this.#plan, () => record.write(), mayAgain);
  }

  async #run<T>(fn: TickWork<T>, guards: readonly Guard[]): Promise<OnceResult<T>> {
    const { window, retry, signal } = this.#plan;
    const [{ lease }] = guards as [Guard];
    const { token } = guards.at(-1)!.lease;
    const run = new HeldRun(this.#name, window.due, token, guards, signal);
    try {
      run.assertHeld();
      this.#committed = true;
      const value = await this.#failure.noteFailureOf(() => fn(run));
      const recorded = !retry || !this.#record || (await isRecorded(this.#record, this.#runtime.engine, lease.signal));
      return { ran: true, value, recorded };
    } finally {
      run.over();
    }
  }

  /** Takes the key of the run. With `retry` other instances wait for it, since its holder may die or fail. */
  #take(tries: number): Promise<Lease | null> {
    const { keys, window, retry } = this.#plan;
    const minHold = this.#record === undefined ? keepFrom(window, this.#now) : 0;
    return this.#obtain(this.#mutex(keys.run), this.#waitFor(retry ? this.#left : 0, tries), { minHold });
  }

  #mutex(key: string): Mutex {
    return mutex(this.#runtime, key, new LayeredOptions(this.#runtime.engine.backend.traits, this.#plan.lock));
  }

  /** Null if the lock is not free within `wait`. */
  async #obtain(lock: Mutex, wait: number, more: LockOptions = {}): Promise<Lease | null> {
    try {
      return await (wait > 0 ? lock.acquire({ ...more, wait }) : lock.tryAcquire(more));
    } catch (error) {
      if (isLockError(error, 'LOCK_TIMEOUT')) return null;
      throw error;
    }
  }

  /** After a try without an answer, until the end of a grant that was missed: it would look like another holder. */
  #waitFor(wait: number, tries: number): number {
    return tries === 0 ? wait : Math.min(this.#left, Math.max(wait, this.#plan.ttl));
  }

  /** How long to wait for an earlier run, ms. */
  get #patience(): number {
    const { overlap, retry, skew, ttl, window } = this.#plan;
    if (overlap === 'queue') return this.#left;
    // The other holder may be a dead runner of this very tick. Its two leases end one after the other.
    const mayHaveDied = retry && this.#now - window.due + 2 * skew > ttl / 2;
    return mayHaveDied ? Math.min(this.#left, ttl / 3 + 250) : 0;
  }

  /** How long the tick is still young, ms. */
  get #left(): number {
    return timeLeft(this.#plan.window, this.#now);
  }

  get #now(): number {
    return this.#runtime.engine.clock.epoch();
  }

  async #notRun(reason: NotRun, key: string): Promise<OnceResult<never>> {
    const [by, failedBy] = await Promise.all([
      reason === 'late' ? undefined : holderOf(this.#runtime.engine, key),
      reason === 'taken' ? this.#failure.by() : undefined,
    ]);
    if (failedBy !== undefined) return { ran: false, reason: 'failed', by: failedBy };
    return { ran: false, reason, ...(by !== undefined && { by }) };
  }
}
