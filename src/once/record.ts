import { backOff } from '../core/claims/pause.ts';
import { EXCLUSIVE } from '../core/contract/admission.ts';
import type { Notes } from '../core/contract/backend.ts';
import { isLockError, LockError } from '../core/contract/errors.ts';
import { LayeredOptions } from '../core/contract/option-table.ts';
import { CALL_TIMEOUT, type Engine } from '../core/engine/engine.ts';
import type { LockRuntime } from '../core/line/runtime.ts';
import { incumbentOf } from '../leading/observer.ts';
import { type RwLock, rwLock } from '../primitives/rw-lock.ts';
import type { OncePlan } from './options.ts';
import { keepFrom } from './window.ts';

/** Remembers that a tick was run, until it is late for every instance. Only the holder of the run's key asks. */
export interface TickRecord {
  /** @throws LockError `LOCK_UNAVAILABLE` */
  exists(): Promise<boolean>;
  /**
   * Whether it is kept, by this instance or by another; false: not yet, try again.
   * @throws LockError `LOCK_UNAVAILABLE` if nobody knows
   */
  write(): Promise<boolean>;
}

/** The longest lease of a look, ms: for so long one that died in a look holds up the record. */
const LOOK = 5_000;

/**
 * Remembers by a claim that nobody gives back: it takes all seats of a key, and lasts beyond the end of this process. A look takes
 * one seat. So looks are in the way of no other look, and only a record refuses one, even after a process has died in its look.
 */
export class HeldRecord implements TickRecord {
  readonly #engine: Engine;
  readonly #looks: RwLock;
  readonly #plan: OncePlan;
  /** The same at each try: what was kept without an answer is found again. */
  readonly #id: string;

  constructor(runtime: LockRuntime, plan: OncePlan) {
    const { traits } = runtime.engine.backend;
    const ttl = Math.max(traits.ttl.min, Math.min(plan.ttl, LOOK));
    const options = { ...plan.lock, ttl, notice: undefined, signal: undefined };
    this.#engine = runtime.engine;
    this.#looks = rwLock(runtime, plan.keys.done, new LayeredOptions(traits, options));
    this.#plan = plan;
    this.#id = runtime.engine.clock.id();
  }

  async exists(): Promise<boolean> {
    const lease = await this.#looks.read.tryAcquire();
    await lease?.release();
    return lease === null;
  }

  async write(): Promise<boolean> {
    const { keys, label, window } = this.#plan;
    const { clock, backend } = this.#engine;
    const ttl = keepFrom(window, clock.epoch());
    if (ttl === 0) return true;
    const claim = {
      key: keys.done,
      id: this.#id,
      ...EXCLUSIVE,
      ttl: Math.max(ttl, backend.traits.ttl.min),
      queue: false,
      span: 1,
      within: CALL_TIMEOUT,
      lingers: true,
      label,
    };
    const answer = await orUnavailable(this.#engine, keys.done, () => this.#engine.attempt(claim));
    return answer.granted || this.#isByAnother();
  }

  /** On a quorum, votes that are still under way refuse a look, too. A listing tells holds from votes. */
  async #isByAnother(): Promise<boolean> {
    if (!this.#engine.backend.inspect) return this.exists();
    return (await incumbentOf(this.#engine.inspect(this.#plan.keys.done, { exact: true }))) !== null;
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

  async exists(): Promise<boolean> {
    return (await this.#askEngine(() => this.#notes.read(this.#plan.keys.done))) !== undefined;
  }

  async write(): Promise<boolean> {
    const ttl = keepFrom(this.#plan.window, this.#engine.clock.epoch());
    if (ttl > 0) await this.#askEngine(() => this.#notes.write(this.#plan.keys.done, this.#plan.label, ttl));
    return true;
  }

  #askEngine<T>(ask: () => Promise<T>): Promise<T> {
    const { done } = this.#plan.keys;
    return orUnavailable(this.#engine, done, () => this.#engine.limit(ask, CALL_TIMEOUT, 'a note'));
  }
}

async function orUnavailable<T>(engine: Engine, key: string, ask: () => Promise<T>): Promise<T> {
  engine.activity.begin();
  try {
    return await ask();
  } catch (error) {
    throw isLockError(error) ? error : engine.unavailable(key, error, 'Try again while the tick is young');
  } finally {
    engine.activity.end();
  }
}

/**
 * @returns undefined if the key of the run is enough: it stays held for the whole time, and nobody tries again
 * @throws LockError `LOCK_UNSUPPORTED` if nothing outlives the process, or if a look could not be told from a record
 */
export function recordOf(runtime: LockRuntime, plan: OncePlan): TickRecord | undefined {
  const { name: backend, traits, notes } = runtime.engine.backend;
  if (traits.lapses && !plan.retry) return undefined;
  if (traits.lapses && traits.seats !== 'exclusive') return new HeldRecord(runtime, plan);
  if (notes) return new NotedRecord(runtime, notes, plan);
  const message = traits.lapses
    ? `${backend} cannot share a key, so it cannot tell who looks whether a tick was run from who has run it; leave retry out`
    : `${backend} keeps nothing that outlives a process, so it cannot tell who comes later that a tick was run`;
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
      if (await record.write()) return true;
    } catch (error) {
      if (!isLockError(error)) throw error;
    }
    if (lost.aborted) return false;
    await engine.activity.pause(backOff(PAUSE, tries, engine.clock.random()), false, lost);
  }
  return false;
}
