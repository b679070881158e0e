import { abortSignal } from '../core/contract/abort-signal.ts';
import { EXCLUSIVE } from '../core/contract/admission.ts';
import { inNoContext, promiseOf } from '../core/contract/context.ts';
import { milliseconds } from '../core/contract/duration.ts';
import { invalid, LockError, quoted, shown } from '../core/contract/errors.ts';
import { checkNames, namesOf } from '../core/contract/options.ts';
import { Frame } from '../core/line/frame.ts';
import type { LockRuntime } from '../core/line/runtime.ts';
import { incumbentOf } from '../leading/observer.ts';
import { Caller, whenAt } from './caller.ts';
import { Flight } from './flight.ts';
import type { MemoPlan } from './options.ts';
import type { MemoResult, MemoState, MemoWait, MemoWork } from './result.ts';
import { decoded } from './value.ts';
import { ageOf, errorOf, opened, readStored } from './words.ts';

const WAIT_OPTIONS = namesOf<MemoWait>({ wait: true, signal: true });

/** The flights of one `Locks`, and the way to them. */
export class Flights {
  readonly #runtime: LockRuntime;
  readonly #flights = new Map<string, Flight>();

  constructor(runtime: LockRuntime) {
    this.#runtime = runtime;
  }

  /** No async function: a caller would have its result some turns later. */
  run<T>(plan: MemoPlan<T>, fn: MemoWork<T>, options: MemoWait | undefined): Promise<MemoResult<T>> {
    return promiseOf(() => this.#call(plan, fn, options).result);
  }

  #call<T>(plan: MemoPlan<T>, fn: MemoWork<T>, options: MemoWait | undefined): Caller<T> {
    const { key } = plan;
    const { engine } = this.#runtime;
    checkNames(options, WAIT_OPTIONS, 'the options of run()');
    if (typeof fn !== 'function') throw invalid(`run() needs a function, not ${shown(fn)}`, key);
    this.#runtime.assertOpen(key);
    if (Frame.around(this.#runtime, key, EXCLUSIVE)) throw insideItself(key, engine.backend.name);
    const caller = new Caller(engine, options ? limited(plan, options) : plan, fn);
    this.#join(key, caller as Caller);
    return caller;
  }

  #join(key: string, caller: Caller): void {
    const known = this.#flights.get(key);
    if (known) {
      known.add(caller);
      return;
    }
    const flight: Flight = new Flight(this.#runtime, caller, () => {
      if (this.#flights.get(key) === flight) this.#flights.delete(key);
    });
    flight.add(caller);
    this.#flights.set(key, flight);
    void inNoContext(() => flight.fly());
  }

  async peek<T>(plan: MemoPlan<T>): Promise<MemoState<T>> {
    const { key } = plan;
    this.#runtime.assertOpen(key);
    const { engine } = this.#runtime;
    const { left, tries } = await engine.look(key);
    if (!left) {
      const holder = engine.backend.inspect ? await incumbentOf(engine.inspect(key, { exact: true })) : null;
      return holder ? { state: 'running', tries, by: holder.label } : { state: 'absent', tries };
    }
    const entry = opened(readStored(left.text, key), plan);
    const { kind } = entry;
    const times = {
      token: left.ticket,
      at: whenAt(engine.clock, ageOf(entry, left)),
      until: whenAt(engine.clock, -left.validFor),
    };
    if (kind === 'kept') return { state: kind, value: decoded(plan, entry.body), ...times };
    const error = errorOf(entry, key, engine.backend.name);
    return { state: kind === 'unkept' ? 'kept' : kind, error, ...times };
  }
}

function limited<T>(plan: MemoPlan<T>, { wait, signal }: MemoWait): MemoPlan<T> {
  const terms = {
    ...plan.terms,
    ...(wait !== undefined && { wait: wait === Number.POSITIVE_INFINITY ? wait : milliseconds(wait, 'wait') }),
    signal: abortSignal(signal, plan.key),
  };
  return { ...plan, terms };
}

const insideItself = (key: string, backend: string): LockError =>
  new LockError('LOCK_DEADLOCK', `the result of ${quoted(key)} is asked for by the function that makes it`, {
    key,
    backend,
  });
