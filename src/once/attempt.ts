import {
  backOff,
  type Engine,
  heldLease,
  isLockError,
  LayeredOptions,
  type Lease,
  type LockRuntime,
} from '../core/index.ts';
import { leasedRun, type RunGuard } from '../leading/leased-run.ts';
import { mutex } from '../primitives/lock.ts';
import { ANSWERS_MS, type OncePlan } from './options.ts';
import { failureRecordOf, holderOf, type TickRecord } from './record.ts';
import type { NotRun, OnceResult, TickRun, TickWork } from './run.ts';
import { keepFrom, matters, mayBegin, timeLeft } from './window.ts';

/** What one instance does for one tick that is `young` by its clock. */
export class TickAttempt {
  readonly #runtime: LockRuntime;
  readonly #engine: Engine;
  readonly #name: string;
  readonly #plan: OncePlan;
  readonly #record: TickRecord | undefined;
  readonly #failure: TickRecord | undefined;
  /** Whether the other instances leave the tick to this one: its function has begun, or the engine may have the record. */
  #committed = false;

  constructor(runtime: LockRuntime, name: string, plan: OncePlan, record: TickRecord | undefined) {
    this.#runtime = runtime;
    this.#engine = runtime.engine;
    this.#name = name;
    this.#plan = plan;
    this.#record = record;
    this.#failure = failureRecordOf(runtime, plan);
  }

  /**
   * If the engine does not answer, this instance asks again while the tick is young: if all instances gave up, none would run the tick.
   * @throws LockError `LOCK_UNAVAILABLE` if the tick is late by then
   */
  async use<T>(fn: TickWork<T>): Promise<OnceResult<T>> {
    const mayAgain = (): boolean => !this.#committed;
    return whileYoung(this.#engine, this.#plan, (retries) => this.#attempt(fn, retries), mayAgain);
  }

  async #attempt<T>(fn: TickWork<T>, retries: number): Promise<OnceResult<T>> {
    const { window, keys } = this.#plan;
    const lease = await this.#take(retries);
    if (!lease) return this.#notRun('taken', keys.run);
    const guards: RunGuard[] = [{ lease, isNeeded: () => matters(window, this.#now) }];
    let isOverlap = false;
    try {
      const reason = await this.#waitOrGiveUp(guards, retries);
      isOverlap = reason === 'overlap';
      if (reason === undefined) return await this.#run(fn, guards);
      if (isOverlap && this.#record) await isRecorded(this.#record, this.#engine, lease.signal);
      return await this.#notRun(reason, isOverlap ? keys.running : keys.done);
    } finally {
      for (const { lease: other } of guards.slice(1)) await other.release();
      // After an overlap, as after a run, no other instance may run the tick: the key stays taken.
      const decided = isOverlap || this.#committed;
      const held = heldLease(lease);
      held.hold.timing.isKeySpent = true;
      await (decided ? held.release() : held.undo());
    }
  }

  /**
   * @param guards has the lease of `keys.run`; if runs must not overlap, the lease of `keys.running` is added
   * @returns why this instance does not run the tick; undefined if it does
   */
  async #waitOrGiveUp(guards: RunGuard[], retries: number): Promise<NotRun | undefined> {
    const { window, retry, overlap, keys } = this.#plan;
    if (await this.#record?.exists()) return retry ? 'done' : 'taken';
    if (overlap !== 'allow') {
      const lease = await this.#obtain(keys.running, patience(this.#plan, this.#now), retries);
      if (!lease) return 'overlap';
      guards.push({ lease });
    }
    if (!retry && this.#record) await this.#commit(this.#record, guards[0]!.lease);
    return mayBegin(window, this.#now) ? undefined : 'late';
  }

  /**
   * Writes the record before the run. After the first attempt, other instances may find the record, and leave the tick to this one. So this instance
   * tries again while the tick is not late. It stops when it has lost the key: then another instance may have written the record.
   * @throws LockError `LOCK_LOST` if the key was lost before: a record would keep all instances from a tick that no instance runs
   */
  async #commit(record: TickRecord, lease: Lease): Promise<void> {
    const mayAgain = (): boolean => lease.held && !this.#plan.signal?.aborted;
    lease.assertHeld();
    this.#committed = true;
    await whileYoung(this.#engine, this.#plan, () => record.write(), mayAgain);
  }

  async #run<T>(fn: TickWork<T>, guards: readonly RunGuard[]): Promise<OnceResult<T>> {
    const { window, retry, signal } = this.#plan;
    const [{ lease }] = guards as [RunGuard];
    const run = leasedRun(guards, { name: this.#name, tick: new Date(window.due) });
    run.listen(signal);
    try {
      run.assertHeld();
      this.#committed = true;
      const value = await this.#work(fn, run);
      const recorded = !retry || !this.#record || (await isRecorded(this.#record, this.#engine, lease.signal));
      return { ran: true, value, recorded };
    } finally {
      run.over();
    }
  }

  async #work<T>(fn: TickWork<T>, run: TickRun): Promise<T> {
    try {
      return await fn(run);
    } catch (error) {
      await this.#failure?.write().catch(() => undefined);
      throw error;
    }
  }

  /** Takes the key of the run. With `retry` it waits for the key, since the holder may die or fail. */
  #take(retries: number): Promise<Lease | null> {
    const { keys, window, retry } = this.#plan;
    const minHold = this.#record === undefined ? keepFrom(window, this.#now) : 0;
    const wait = retry ? timeLeft(window, this.#now) : 0;
    return this.#obtain(keys.run, wait, retries, minHold);
  }

  /** @returns null if the key is not free within `patience` ms */
  async #obtain(key: string, patience: number, retries: number, minHold = 0): Promise<Lease | null> {
    const wait = waitFor(patience, this.#plan, retries, this.#now);
    const lock = mutex(this.#runtime, key, new LayeredOptions(this.#engine.backend.traits, this.#plan.lock));
    try {
      return await (wait > 0 ? lock.acquire({ minHold, wait }) : lock.tryAcquire({ minHold }));
    } catch (error) {
      if (isLockError(error, 'LOCK_TIMEOUT')) return null;
      throw error;
    }
  }

  get #now(): number {
    return this.#engine.clock.epoch();
  }

  async #notRun(reason: NotRun, key: string): Promise<OnceResult<never>> {
    const [by, failedBy] = await Promise.all([
      reason === 'late' ? undefined : holderOf(this.#engine, key),
      reason === 'taken' ? this.#failure?.by().catch(() => undefined) : undefined,
    ]);
    if (failedBy !== undefined) return { ran: false, reason: 'failed', by: failedBy };
    return { ran: false, reason, ...(by !== undefined && { by }) };
  }
}

/** How long to wait for an earlier run of the name, ms. */
function patience({ overlap, retry, skew, ttl, watch, window }: OncePlan, now: number): number {
  const remaining = timeLeft(window, now);
  if (overlap === 'queue') return remaining;
  // The holder may have died while it ran this same tick. Then its lease of the tick's key has expired, and that of the name's key expires soon.
  const mayHaveDied = retry && now - window.due + 2 * skew > ttl / 2;
  // Without a clock of the engine, any holder may be dead. One that is alive renews its lease, and so it holds the key for longer than this.
  return Math.min(remaining, Math.max(watch, mayHaveDied ? ttl / 3 + ANSWERS_MS : 0));
}

/**
 * How long to wait for a key, ms. After an attempt without an answer, at least `ttl`: the engine may have granted that attempt, and the
 * grant looks like another holder until it expires.
 */
const waitFor = (wait: number, { window, ttl }: OncePlan, retries: number, now: number): number =>
  retries === 0 ? wait : Math.min(timeLeft(window, now), Math.max(wait, ttl));

/** Pauses before the next question to an engine that did not answer, ms. */
const RETRY_PAUSE = { pause: 100, jitter: 0.5, bound: 2_000 };

/**
 * Calls `ask`. If the engine did not answer or a lease was lost, calls it again while the tick is young and `mayAgain` returns true.
 * @param ask gets the number of earlier attempts
 * @throws what the last attempt threw
 */
async function whileYoung<T>(
  engine: Engine,
  { window, signal }: OncePlan,
  ask: (retries: number) => Promise<T>,
  mayAgain: () => boolean,
): Promise<T> {
  for (let retries = 0; ; retries++) {
    try {
      return await ask(retries);
    } catch (error) {
      const passes = isLockError(error, 'LOCK_UNAVAILABLE') || isLockError(error, 'LOCK_LOST');
      if (!passes || timeLeft(window, engine.clock.epoch()) === 0 || !mayAgain()) throw error;
    }
    await engine.activity.pause(backOff(RETRY_PAUSE, retries, engine.clock.random()), false, signal);
  }
}

/** Pauses between two attempts to write the record, ms. */
const RECORD_PAUSE = { pause: 50, jitter: 0.5, bound: 1_000 };

/**
 * Tries until the record is written, or until the lease is lost: then another instance may have begun to run the tick.
 * @returns whether the record is surely written
 */
async function isRecorded(record: TickRecord, engine: Engine, lost: AbortSignal): Promise<boolean> {
  for (let retries = 0; !engine.activity.over; retries++) {
    try {
      if (await record.write()) return true;
    } catch (error) {
      if (!isLockError(error)) throw error;
    }
    if (lost.aborted) return false;
    await engine.activity.pause(backOff(RECORD_PAUSE, retries, engine.clock.random()), false, lost);
  }
  return false;
}
