import type { Notes } from '../core/backend.ts';
import { CALL_TIMEOUT, type Engine } from '../core/engine.ts';
import { isLockError, LockError } from '../core/errors.ts';
import { LayeredOptions } from '../core/options.ts';
import { backOff } from '../core/pause.ts';
import type { LockRuntime } from '../core/runtime.ts';
import { type Mutex, mutex } from '../primitives/mutex.ts';
import type { OncePlan } from './options.ts';
import { keepFrom } from './window.ts';

/** Remembers that a tick was run, until it is late for every instance. Only the holder of the run's key asks and writes. */
export interface TickRecord {
  /** @throws LockError `LOCK_UNAVAILABLE` */
  found(): Promise<boolean>;
  /** @throws LockError `LOCK_UNAVAILABLE` if nobody knows whether it is kept */
  write(): Promise<void>;
}

/** Remembers by a key that stays held for the needed time, also after the end of this process. */
export class HeldRecord implements TickRecord {
  readonly #engine: Engine;
  readonly #mutex: Mutex;
  readonly #plan: OncePlan;

  constructor(runtime: LockRuntime, plan: OncePlan) {
    this.#engine = runtime.engine;
    const options = { ...plan.lock, signal: undefined };
    this.#mutex = mutex(runtime, plan.keys.done, new LayeredOptions(this.#engine.backend.traits, options));
    this.#plan = plan;
  }

  /** Only the holder of the run's key takes it, so no other process holds it for more than a moment. */
  async found(): Promise<boolean> {
    const lease = await this.#mutex.tryAcquire();
    await lease?.release();
    return lease === null;
  }

  async write(): Promise<void> {
    const minHold = keepFrom(this.#plan.window, this.#engine.clock.epoch());
    if (minHold === 0) return;
    const lease = await this.#mutex.acquire({ minHold, wait: CALL_TIMEOUT });
    await lease.release(); // sets the end of the hold; without an answer it lapses then anyway
  }
}

/** Remembers by a note, on engines where every hold ends with the session of its process. */
export class NotedRecord implements TickRecord {
  readonly #engine: Engine;
  readonly #notes: Notes;
  readonly #plan: OncePlan;

  constructor({ engine }: LockRuntime, notes: Notes, plan: OncePlan) {
    this.#engine = engine;
    this.#notes = notes;
    this.#plan = plan;
  }

  async found(): Promise<boolean> {
    return (await this.#asked(() => this.#notes.read(this.#plan.keys.done))) !== undefined;
  }

  async write(): Promise<void> {
    const ttl = keepFrom(this.#plan.window, this.#engine.clock.epoch());
    if (ttl > 0) await this.#asked(() => this.#notes.write(this.#plan.keys.done, this.#plan.label, ttl));
  }

  async #asked<T>(ask: () => Promise<T>): Promise<T> {
    const { done } = this.#plan.keys;
    try {
      return await this.#engine.bounded(ask, CALL_TIMEOUT, 'a note');
    } catch (error) {
      throw isLockError(error) ? error : this.#engine.unavailable(done, error, 'Try again while the tick is young');
    }
  }
}

/**
 * @returns undefined if the key of the run is enough: it stays held for the whole time, and nobody tries again
 * @throws LockError `LOCK_UNSUPPORTED` if nothing outlives the process
 */
export function recordOf(runtime: LockRuntime, plan: OncePlan): TickRecord | undefined {
  const { name: backend, traits, notes } = runtime.engine.backend;
  if (traits.lapses) return plan.retry ? new HeldRecord(runtime, plan) : undefined;
  if (notes) return new NotedRecord(runtime, notes, plan);
  const message = `${backend} keeps nothing that outlives a process, so it cannot tell who comes later that a tick was run`;
  throw new LockError('LOCK_UNSUPPORTED', message, { key: plan.keys.run, backend });
}

/** Time between two tries to write the record, ms. */
const PAUSE = { pause: 50, jitter: 0.5, bound: 1_000 };

/**
 * Tries until the record is written, or until `lost` says that another instance may have begun to run the tick. Then nobody
 * knows.
 */
export async function isRecorded(record: TickRecord, engine: Engine, lost: AbortSignal): Promise<boolean> {
  for (let tries = 0; !engine.activity.over; tries++) {
    try {
      await record.write();
      return true;
    } catch (error) {
      if (!isLockError(error)) throw error;
    }
    if (lost.aborted) return false;
    await engine.activity.pause(backOff(PAUSE, tries, engine.clock.random()), false, lost);
  }
  return false;
}
