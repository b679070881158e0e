import { EVENT_VERSION, invalid, LONGEST, type LockOptions, type LockRuntime, quoted, shown } from '../core/index.ts';
import { TickAttempt } from './attempt.ts';
import { tell } from './events.ts';
import { type OnceOptions, type OncePlan, oncePlan } from './options.ts';
import { Punctuality } from './punctuality.ts';
import { recordOf } from './record.ts';
import type { OnceResult, TickWork } from './result.ts';
import type { Tick } from './tick.ts';
import { ageAt } from './window.ts';

/** @internal The ticks of one `Locks`. */
export class Ticks {
  readonly #runtime: LockRuntime;
  readonly #defaults: LockOptions;
  readonly #punctuality = new Punctuality();

  constructor(runtime: LockRuntime, defaults: LockOptions) {
    this.#runtime = runtime;
    this.#defaults = defaults;
  }

  /** Use `locks.once`. */
  async once<T>(name: string, tick: Tick, fn: TickWork<T>, options?: OnceOptions): Promise<OnceResult<T>> {
    const plan = oncePlan(this.#runtime.engine.backend.traits, name, tick, this.#defaults, options);
    if (typeof fn !== 'function') throw invalid(`once() needs a function, not ${shown(fn)}`, name);
    const record = recordOf(this.#runtime, plan);
    const now = this.#runtime.engine.clock.epoch();
    const reason = ageAt(plan.window, now);
    const by = Math.abs(now - plan.window.due);
    // No schedule is off by more than a year: such a tick only has the options checked.
    const isTick = by <= LONGEST;
    if (isTick && this.#punctuality.noteFraction(name, plan.window.due)) warnOfFraction(name, plan.window.due);
    if (reason === 'young') {
      this.#punctuality.noteMet(name);
      return new TickAttempt(this.#runtime, name, plan, record).use(fn);
    }
    const ticks = isTick ? this.#punctuality.noteMissed(name, plan.window.due) : undefined;
    if (ticks !== undefined) this.#tellMissed(name, plan, ticks, reason, by);
    return { ran: false, reason };
  }

  #tellMissed(name: string, plan: OncePlan, ticks: number, reason: 'late' | 'early', by: number): void {
    const { number: locks, engine } = this.#runtime;
    const backend = engine.backend.name;
    tell(() => ({ version: EVENT_VERSION, locks, backend, name, ticks, reason, by }));
    process.emitWarning(missedMessage(name, plan, ticks, reason, by), 'HoldfastTickWarning');
  }
}

const seconds = (ms: number): string => (ms < 1_000 ? `${ms} ms` : `${Math.round(ms / 1_000)} s`);

function warnOfFraction(name: string, due: number): void {
  const message =
    `${quoted(name)} got the tick ${new Date(due).toISOString()}, which is no whole second. It looks like the time of the call, which ` +
    'differs on each instance, and then each of them runs it. Give once() the time for which the timer fires';
  process.emitWarning(message, 'HoldfastTickWarning');
}

const missedMessage = (name: string, { window, skew }: OncePlan, ticks: number, reason: string, by: number): string =>
  `${quoted(name)} never runs here: all of its ${ticks} ticks so far were late or early, the last one ${reason} by ${seconds(by)} ` +
  `(within is ${seconds(window.last - window.due)}, skew ${seconds(skew)}). Give once() the time for which the timer fires, in its zone`;
