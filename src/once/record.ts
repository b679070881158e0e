import {
  backOff,
  CALL_TIMEOUT,
  type Engine,
  EXCLUSIVE,
  type Hints,
  isLockError,
  LayeredOptions,
  LockError,
  type LockRuntime,
} from '../core/index.ts';
import { incumbentOf } from '../leading/observer.ts';
import { rwLock } from '../primitives/rw-lock.ts';
import type { OncePlan } from './options.ts';
import { keepFrom } from './window.ts';

/** Remembers what became of a tick, until it is late for every instance. Only the holder of the run's key asks. */
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
 * Remembers by a claim that nobody gives back: it takes all units of a key, and lasts beyond the end of this process. A look takes
 * one unit. So looks are in the way of no other look, and only a record refuses one, even after a process has died in its look.
 */
export class HeldRecord implements TickRecord {
  readonly #runtime: LockRuntime;
  readonly #plan: OncePlan;
  readonly #key: string;
  /** The same at each try: what was kept without an answer is found again. */
  readonly #id: string;

  constructor(runtime: LockRuntime, plan: OncePlan, key: string) {
    this.#runtime = runtime;
    this.#plan = plan;
    this.#key = key;
    this.#id = runtime.engine.clock.id();
  }

  get #engine(): Engine {
    return this.#runtime.engine;
  }

  /** The label of the instance that wrote it, if there is one and the engine tells. */
  by(): Promise<string | undefined> {
    return holderOf(this.#engine, this.#key);
  }

  async exists(): Promise<boolean> {
    const { traits } = this.#engine.backend;
    const ttl = Math.max(traits.ttl.min, Math.min(this.#plan.ttl, LOOK));
    const options = { ...this.#plan.lock, ttl, notice: undefined, signal: undefined };
    const lease = await rwLock(this.#runtime, this.#key, new LayeredOptions(traits, options)).read.tryAcquire();
    await lease?.release();
    return lease === null;
  }

  async write(): Promise<boolean> {
    const { label, window } = this.#plan;
    const { clock, backend } = this.#engine;
    const ttl = keepFrom(window, clock.epoch());
    if (ttl === 0) return true;
    const claim = {
      key: this.#key,
      id: this.#id,
      ...EXCLUSIVE,
      ttl: Math.max(ttl, backend.traits.ttl.min),
      queue: false,
      tokenCount: 1,
      within: CALL_TIMEOUT,
      lingers: true,
      label,
    };
    const answer = await orUnavailable(this.#engine, this.#key, () => this.#engine.attempt(claim));
    return answer.granted || this.#isByAnother();
  }

  /** On a quorum, votes that are still under way refuse a look, too. A listing tells holds from votes. */
  async #isByAnother(): Promise<boolean> {
    if (!this.#engine.backend.inspect) return this.exists();
    return (await incumbentOf(this.#engine.inspect(this.#key, { exact: true }))) !== null;
  }
}

/** Remembers by a note, on engines where every hold ends with the session of its process. */
export class NotedRecord implements TickRecord {
  readonly #engine: Engine;
  readonly #notes: Hints;
  readonly #plan: OncePlan;
  readonly #key: string;

  constructor({ engine }: LockRuntime, notes: Hints, plan: OncePlan, key: string) {
    this.#engine = engine;
    this.#notes = notes;
    this.#plan = plan;
    this.#key = key;
  }

  /** The label of the instance that wrote it, if there is one. */
  by(): Promise<string | undefined> {
    return this.#askEngine(() => this.#notes.read(this.#key));
  }

  async exists(): Promise<boolean> {
    return (await this.by()) !== undefined;
  }

  async write(): Promise<boolean> {
    const ttl = keepFrom(this.#plan.window, this.#engine.clock.epoch());
    if (ttl > 0) await this.#askEngine(() => this.#notes.write(this.#key, this.#plan.label, ttl));
    return true;
  }

  #askEngine<T>(ask: () => Promise<T>): Promise<T> {
    return orUnavailable(this.#engine, this.#key, () => this.#engine.limit(ask, CALL_TIMEOUT, 'a note'));
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
  const { name: backend, traits, hints } = runtime.engine.backend;
  if (traits.expires && !plan.retry) return undefined;
  if (traits.expires && traits.units !== 'exclusive') return new HeldRecord(runtime, plan, plan.keys.done);
  if (hints) return new NotedRecord(runtime, hints, plan, plan.keys.done);
  const message = traits.expires
    ? `${backend} cannot share a key, so it cannot tell who looks whether a tick was run from who has run it; leave retry out`
    : `${backend} keeps nothing that outlives a process, so it cannot tell who comes later that a tick was run`;
  throw new LockError('LOCK_UNSUPPORTED', message, { key: plan.keys.run, backend });
}

/**
 * Without `retry` nobody runs a tick again whose run failed, so the others are told why. It is only information: what goes wrong with it is
 * no error of the tick.
 */
export class FailureMark {
  readonly #record: HeldRecord | NotedRecord | undefined;

  constructor(runtime: LockRuntime, plan: OncePlan) {
    const { traits, hints } = runtime.engine.backend;
    const { failed } = plan.keys;
    if (plan.retry) return;
    if (traits.expires) this.#record = new HeldRecord(runtime, plan, failed);
    else if (hints) this.#record = new NotedRecord(runtime, hints, plan, failed);
  }

  async noteFailureOf<T>(work: () => Promise<T> | T): Promise<T> {
    try {
      return await work();
    } catch (error) {
      await this.#record?.write().catch(() => undefined);
      throw error;
    }
  }

  /** The label of the instance whose run failed, if one did and the engine tells. */
  async by(): Promise<string | undefined> {
    return this.#record?.by().catch(() => undefined);
  }
}

/** The label of the holder, if there is one and the engine tells. An error here is no error of the tick. */
export async function holderOf(engine: Engine, key: string): Promise<string | undefined> {
  if (!engine.backend.inspect) return undefined;
  const holder = await incumbentOf(engine.inspect(key, { exact: true }), 0).catch(() => null);
  return holder?.label;
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
