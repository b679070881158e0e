import {
  abortSignal,
  CALL_TIMEOUT,
  checkNames,
  EXCLUSIVE,
  Frame,
  inNoContext,
  invalid,
  isLockError,
  LockError,
  type LockRuntime,
  milliseconds,
  namesOf,
  promiseOf,
  quoted,
  shown,
  type ValueRecord,
} from '../core/index.ts';
import { incumbentOf } from '../leading/observer.ts';
import { Caller, entryFor, resultOf, whenAt } from './caller.ts';
import { Flight } from './flight.ts';
import { checkMatch } from './inquiry.ts';
import { lasting } from './lasting.ts';
import type { MemoPlan } from './options.ts';
import type { MemoResult, MemoState, MemoWait, MemoWork } from './result.ts';
import { decoded } from './value.ts';
import { ageOf, errorOf, readStored } from './words.ts';

const WAIT_OPTIONS = namesOf<MemoWait>({ wait: true, signal: true });

/** The flights of one `Locks`, and the way to them. */
export class Flights {
  readonly #runtime: LockRuntime;
  readonly #flights = new Map<string, Flight>();
  readonly #looks = new Map<string, PromiseWithResolvers<ValueRecord>>();

  constructor(runtime: LockRuntime) {
    this.#runtime = runtime;
    runtime.memos = this;
  }

  /** Ends all waits. @param errorOf makes the error for a key */
  close(errorOf: (key: string) => LockError): void {
    for (const [key, { reject }] of [...this.#looks]) reject(errorOf(key));
    for (const [key, flight] of [...this.#flights]) flight.close(errorOf(key));
  }

  /** No async function: a caller would have its result some turns later. */
  run<T>(plan: MemoPlan<T>, fn: MemoWork<T>, options: MemoWait | undefined): Promise<MemoResult<T>> {
    return promiseOf(() => this.#call(plan, fn, options));
  }

  #call<T>(plan: MemoPlan<T>, fn: MemoWork<T>, options: MemoWait | undefined): Promise<MemoResult<T>> {
    const { key } = plan;
    const { engine } = this.#runtime;
    checkNames(options, WAIT_OPTIONS, 'the options of run()');
    if (typeof fn !== 'function') throw invalid(`run() needs a function, not ${shown(fn)}`, key);
    this.#runtime.assertOpen(key);
    if (Frame.around(this.#runtime, key, EXCLUSIVE)) throw insideItself(key, engine.backend.name);
    const own = options ? limited(plan, options) : plan;
    if (own.keep > 0 && (this.#flights.get(key)?.refreshes ?? true)) return this.#lookFirst(own, fn);
    return this.#join(new Caller(engine, own, fn, engine.clock.now()));
  }

  /** Looks first. Where a result is there, a caller that cannot give up before the look ends needs nothing but that. */
  #lookFirst<T>(plan: MemoPlan<T>, fn: MemoWork<T>): Promise<MemoResult<T>> {
    const { engine } = this.#runtime;
    const { key, refresh } = plan;
    const { wait, signal } = plan.terms;
    const began = engine.clock.now();
    const impatient = signal || wait <= CALL_TIMEOUT ? new Caller(engine, plan, fn, began) : undefined;
    impatient?.startLimits((error) => impatient.reject(error), nothingHeard);
    if (impatient?.over) return impatient.result;
    const result = this.#look(key).then(
      (found) => {
        this.#looks.delete(key);
        const looked = lasting(found, plan.keep);
        const { value, attempts } = looked;
        const stored = value && readStored(value.text, key);
        if (stored && (value.age < refresh || attempts >= plan.attempts)) return resultOf(engine, plan, value, stored);
        if (stored) checkMatch(plan, stored.match, engine.backend.name);
        return this.#join(impatient ?? new Caller(engine, plan, fn, began), looked);
      },
      (error: unknown) => {
        this.#looks.delete(key);
        // A look that the engine did not answer finds nothing: the claim comes to a result, too, and waits for an engine that is away.
        if (!isLockError(error, 'LOCK_UNAVAILABLE') || (wait === 0 && this.#flights.has(key))) throw error;
        return this.#join(impatient ?? new Caller(engine, plan, fn, began));
      },
    );
    if (!impatient) return result;
    result.then(
      (had) => impatient.resolve(had),
      (error) => impatient.reject(error),
    );
    return impatient.result;
  }

  /** All callers of this process that look at the same time share one look, unless this process has forgotten or left something since. */
  #look(key: string): Promise<ValueRecord> {
    const known = this.#looks.get(key);
    if (known) return known.promise;
    const look = Promise.withResolvers<ValueRecord>();
    this.#looks.set(key, look);
    this.#runtime.engine.look(key).then(look.resolve, look.reject);
    return look.promise;
  }

  /** @param looked what the engine told it, if it looked */
  #join<T>(caller: Caller<T>, looked?: ValueRecord): Promise<MemoResult<T>> {
    if (!caller.over) this.#enter(caller as Caller, looked);
    return caller.result;
  }

  #enter(caller: Caller, looked: ValueRecord | undefined): void {
    const { key } = caller.plan;
    const known = this.#flights.get(key);
    if (Frame.holdsAny(this.#runtime)) {
      // Others may wait for what it holds, so it is seen in the line, with that: a ring through it can be found.
      known?.check(caller);
      void new Flight(this.#runtime, caller, looked, () => {}).fly();
      return;
    }
    if (known) {
      known.add(caller, looked);
      return;
    }
    const flight: Flight = new Flight(this.#runtime, caller, looked, () => {
      if (this.#flights.get(key) === flight) this.#shareNothing(key);
    });
    this.#flights.set(key, flight);
    void inNoContext(() => flight.fly());
  }

  /** A later caller shares no answer with an earlier one: that answer may be of what is gone now. */
  #shareNothing(key: string): void {
    this.#looks.delete(key);
    this.#flights.delete(key);
  }

  async forget(key: string): Promise<boolean> {
    this.#runtime.assertOpen(key);
    const was = await this.#runtime.engine.forget(key);
    this.#shareNothing(key);
    return was;
  }

  async peek<T>(plan: MemoPlan<T>): Promise<MemoState<T>> {
    const { key } = plan;
    this.#runtime.assertOpen(key);
    const { engine } = this.#runtime;
    const found = await engine.look(key);
    const { value, attempts, mark, begun } = plan.keep > 0 ? lasting(found, plan.keep) : found;
    if (!value) {
      const holder = engine.backend.inspect ? await incumbentOf(engine.inspect(key, { exact: true })) : null;
      if (!holder) return { state: 'absent', attempts };
      if (holder.token === begun) checkMatch(plan, mark, engine.backend.name);
      return { state: 'running', attempts, by: holder.label };
    }
    const entry = entryFor(plan, readStored(value.text, key), engine.backend.name);
    const { kind } = entry;
    const times = {
      token: value.token,
      at: whenAt(engine.clock, ageOf(entry, value, key)),
      until: whenAt(engine.clock, -value.validFor),
    };
    if (kind === 'kept') return { state: kind, value: decoded(plan, entry.body), ...times };
    const error = errorOf(entry, key, engine.backend.name);
    return { state: kind === 'unkept' ? 'failed' : kind, error, ...times };
  }
}

const nothingHeard = (): boolean => false;

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
