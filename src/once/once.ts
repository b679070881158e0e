import {
  EVENT_VERSION,
  invalid,
  type LockOptions,
  type LockRuntime,
  MAX_DURATION_MS,
  quoted,
  shown,
} from '../core/index.ts';
import { TickAttempt } from './attempt.ts';
import { publish } from './events.ts';
import { type OnceOptions, type OncePlan, oncePlan } from './options.ts';
import { recordOf } from './record.ts';
import type { OnceResult, TickWork } from './run.ts';
import type { Tick } from './tick.ts';
import { type Age, ageAt } from './window.ts';

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
    const age = this.#punctuality.check(name, plan);
    if (age !== 'young') return { ran: false, reason: age };
    return new TickAttempt(this.#runtime, name, plan, record).use(fn);
  }
}

/** How many names are remembered. Later names get no warning. */
const MAX_NAMES = 1_000;
/** A warning needs at least this number of missed ticks: one missed tick may be an accident. */
const MIN_MISSED_TICKS = 2;

interface MissedTicks {
  readonly due: number;
  readonly ticks: number;
}

/** Warns once of each name whose ticks were all late or early so far, and once of each name with a tick that is no whole second. */
class Punctuality {
  readonly #runtime: LockRuntime;
  readonly #fractions = new Set<string>();
  /** The missed ticks of each name. Undefined: no warning will follow, since a tick was young, or the warning was given. */
  readonly #missed = new Map<string, MissedTicks | undefined>();

  constructor(runtime: LockRuntime) {
    this.#runtime = runtime;
  }

  /** @returns the age of the tick by the clock of this instance */
  check(name: string, plan: OncePlan): Age {
    const { window } = plan;
    const { due } = window;
    const now = this.#runtime.engine.clock.epoch();
    const age = ageAt(window, now);
    const by = Math.abs(now - due);
    if (age === 'young') this.#keep(name, undefined);
    // A tick that is more than a year away is of no schedule: `@OnceCron` uses such a tick to check its options.
    if (by > MAX_DURATION_MS) return age;
    if (this.#isFraction(name, due)) warn(fractionMessage(name, due));
    const ticks = age === 'young' ? undefined : this.#ticksMissed(name, due);
    if (age === 'young' || ticks === undefined) return age;
    const { number: locks, engine } = this.#runtime;
    publish(() => ({ version: EVENT_VERSION, locks, backend: engine.backend.name, name, ticks, reason: age, by }));
    warn(missedMessage(name, plan, ticks, age, by));
    return age;
  }

  /** Whether this is the first tick of this name that is not at a whole second. Such a tick looks like `Date.now()` at a call, not like a schedule. */
  #isFraction(name: string, due: number): boolean {
    if (due % 1_000 === 0 || this.#fractions.size >= MAX_NAMES || this.#fractions.has(name)) return false;
    this.#fractions.add(name);
    return true;
  }

  /** How many ticks of the name were missed, this one included; undefined: no warning now. */
  #ticksMissed(name: string, due: number): number | undefined {
    const before = this.#missed.get(name);
    if (this.#missed.has(name) && (!before || before.due === due)) return undefined;
    const ticks = (before?.ticks ?? 0) + 1;
    this.#keep(name, ticks < MIN_MISSED_TICKS ? { due, ticks } : undefined);
    return ticks < MIN_MISSED_TICKS ? undefined : ticks;
  }

  #keep(name: string, missed: MissedTicks | undefined): void {
    if (this.#missed.size < MAX_NAMES || this.#missed.has(name)) this.#missed.set(name, missed);
  }
}

const warn = (message: string): void => process.emitWarning(message, 'HoldfastTickWarning');

const fractionMessage = (name: string, due: number): string =>
  `${quoted(name)} got the tick ${new Date(due).toISOString()}, which is no whole second. It looks like the time of the call, which ` +
  'differs on each instance, and then each of them runs it. Give once() the time for which the timer fires';

const missedMessage = (name: string, { window, skew }: OncePlan, ticks: number, reason: string, by: number): string =>
  `${quoted(name)} never runs here: all of its ${ticks} ticks so far were late or early, the last one ${reason} by ${seconds(by)} ` +
  `(within is ${seconds(window.last - window.due)}, skew ${seconds(skew)}). Give once() the time for which the timer fires, in its zone`;

const seconds = (ms: number): string => (ms < 1_000 ? `${ms} ms` : `${Math.round(ms / 1_000)} s`);
