import {
  CALL_TIMEOUT_MS,
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

/** Says that a tick was run or has failed, until the tick is late for every instance. Only the holder of the run's key checks and writes it. */
export interface TickRecord {
  /** @throws LockError `LOCK_UNAVAILABLE` */
  exists(): Promise<boolean>;
  /**
   * @returns whether the record is there, from this instance or another; false: not yet, try again
   * @throws LockError `LOCK_UNAVAILABLE` if that is unknown
   */
  write(): Promise<boolean>;
  /** The label of the instance that wrote the record, if the engine lists it. */
  by(): Promise<string | undefined>;
}

/**
 * The record that a tick was run.
 * @returns undefined if the key of the run is enough: it stays held until the tick is late, and no instance tries again
 * @throws LockError `LOCK_UNSUPPORTED` if the engine keeps nothing when a process ends, or if a look on it would count as a record
 */
export function recordOf(runtime: LockRuntime, plan: OncePlan): TickRecord | undefined {
  const { name: backend, traits } = runtime.engine.backend;
  if (traits.expires && !plan.retry) return undefined;
  const record = recordAt(runtime, plan, plan.keys.done, traits.expires && traits.units !== 'exclusive');
  if (record) return record;
  const message = traits.expires
    ? `${backend} cannot share a key, so a look at whether a tick was run would be taken for a run of it; leave retry out`
    : `${backend} keeps nothing that outlives a process, so an instance that asks later could not find out that a tick was run`;
  throw new LockError('LOCK_UNSUPPORTED', message, { key: plan.keys.run, backend });
}

/** The record that a tick's run failed: without `retry` no instance runs it again. A failure to write or read it is no error of the tick. */
export const failureRecordOf = (runtime: LockRuntime, plan: OncePlan): TickRecord | undefined =>
  plan.retry ? undefined : recordAt(runtime, plan, plan.keys.failed, runtime.engine.backend.traits.expires);

function recordAt(runtime: LockRuntime, plan: OncePlan, key: string, byHold: boolean): TickRecord | undefined {
  if (byHold) return heldRecord(runtime, plan, key);
  const { hints } = runtime.engine.backend;
  return hints && hintedRecord(runtime.engine, hints, plan, key);
}

/** The longest lease of a look, ms. If a process dies in its look, no record can be written until the lease expires. */
const MAX_LOOK_TTL_MS = 5_000;

/**
 * A record in the form of a claim that is never released. It takes all units of a key, and outlasts this process. A look takes one unit. So looks do
 * not hinder each other, even if a dead process has left one: only a record refuses a look.
 */
function heldRecord(runtime: LockRuntime, { lock, ttl, label, window }: OncePlan, key: string): TickRecord {
  const { engine } = runtime;
  const { traits, inspect } = engine.backend;
  const id = engine.clock.id(); // the same at each attempt, so that a claim that was granted without an answer is granted again
  const exists = async (): Promise<boolean> => {
    const lookTtl = Math.max(traits.ttl.min, Math.min(ttl, MAX_LOOK_TTL_MS));
    const options = new LayeredOptions(traits, { ...lock, ttl: lookTtl, notice: undefined, signal: undefined });
    const lease = await rwLock(runtime, key, options).read.tryAcquire();
    await lease?.release();
    return lease === null;
  };
  return {
    exists,
    by: () => holderOf(engine, key),
    async write() {
      const remaining = keepFrom(window, engine.clock.epoch());
      if (remaining === 0) return true;
      const claim = {
        key,
        id,
        ...EXCLUSIVE,
        ttl: Math.max(remaining, traits.ttl.min),
        queue: false,
        tokenCount: 1,
        within: CALL_TIMEOUT_MS,
        lingers: true,
        label,
      };
      const { granted } = await orUnavailable(engine, key, () => engine.attempt(claim));
      if (granted) return true;
      // On a quorum, votes under way refuse a look, too, so a refusal proves nothing. The listing decides: it shows the holds.
      return inspect ? (await incumbentOf(engine.inspect(key, { exact: true }))) !== null : exists();
    },
  };
}

/** A record that is a hint, on engines where every hold ends with the session of its process. */
function hintedRecord(engine: Engine, hints: Hints, { label, window }: OncePlan, key: string): TickRecord {
  const ask = <T>(act: () => Promise<T>): Promise<T> =>
    orUnavailable(engine, key, () => engine.limit(act, CALL_TIMEOUT_MS, 'a hint'));
  const by = (): Promise<string | undefined> => ask(() => hints.read(key));
  return {
    by,
    exists: async () => typeof (await by()) === 'string',
    async write() {
      const ttl = keepFrom(window, engine.clock.epoch());
      if (ttl > 0) await ask(() => hints.write(key, label, ttl));
      return true;
    },
  };
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

/** The label of the holder, if there is one and the engine lists it. An error here is no error of the tick. */
export async function holderOf(engine: Engine, key: string): Promise<string | undefined> {
  if (!engine.backend.inspect) return undefined;
  const holder = await incumbentOf(engine.inspect(key, { exact: true })).catch(() => null);
  return holder?.label;
}
