import { invalid, type LockOptions, type LockRuntime, shown } from '../core/index.ts';
import { TickAttempt } from './attempt.ts';
import { type OnceOptions, oncePlan } from './options.ts';
import { Punctuality } from './punctuality.ts';
import { recordOf } from './record.ts';
import type { OnceResult, TickWork } from './run.ts';
import type { Tick } from './tick.ts';

/** @internal The ticks of one `Locks`. */
export class Ticks {
  readonly #runtime: LockRuntime;
  readonly #defaults: LockOptions;
  readonly #punctuality: Punctuality;

  constructor(runtime: LockRuntime, defaults: LockOptions) {
    this.#runtime = runtime;
    this.#defaults = defaults;
    this.#punctuality = new Punctuality(runtime);
  }

  /** Use `locks.once`. */
  async once<T>(name: string, tick: Tick, fn: TickWork<T>, options?: OnceOptions): Promise<OnceResult<T>> {
    const plan = oncePlan(this.#runtime.engine.backend.traits, name, tick, this.#defaults, options);
    if (typeof fn !== 'function') throw invalid(`once() needs a function, not ${shown(fn)}`, name);
    const record = recordOf(this.#runtime, plan);
    const age = this.#punctuality.note(name, plan);
    if (age !== 'young') return { ran: false, reason: age };
    return new TickAttempt(this.#runtime, name, plan, record).use(fn);
  }
}
