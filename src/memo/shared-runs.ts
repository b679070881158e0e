import {
  abortSignal,
  CALL_TIMEOUT_MS,
  checkNames,
  EXCLUSIVE,
  Frame,
  inNoContext,
  invalid,
  isLockError,
  LockError,
  type LockRuntime,
  namesOf,
  promiseOf,
  quoted,
  shown,
  type ValueRecord,
  waitIn,
} from '../core/index.ts';
import { incumbentOf } from '../leading/observer.ts';
import { Caller, resultOf, whenAt } from './caller.ts';
import { isEnough, keptFor } from './decisions.ts';
import { ageOf, decoded, errorOf, opened, readStored } from './entry.ts';
import { checkMatch } from './match.ts';
import type { MemoResult, MemoState, MemoWait, MemoWork } from './memo.ts';
import type { MemoPlan } from './options.ts';
import { SharedRun } from './shared-run.ts';

const WAIT_OPTIONS = namesOf<MemoWait>({ wait: true, signal: true });

/** The calls of all memos of one `Locks`: each looks for a stored result, or joins the shared run of its key. */
export class SharedRuns {
  readonly #runtime: LockRuntime;
  readonly #runs = new Map<string, SharedRun>();
  readonly #looks = new Map<string, PromiseWithResolvers<ValueRecord>>();
  /** The keys of all looks under way, also of those that later callers do not share. */
  readonly #underWay = new Map<PromiseWithResolvers<ValueRecord>, string>();

  constructor(runtime: LockRuntime) {
    this.#runtime = runtime;
    runtime.memos = this;
  }

  /** Ends all waits. */
  close(errorOf: (key: string) => LockError): void {
    for (const [{ reject }, key] of [...this.#underWay]) reject(errorOf(key));
    for (const [key, run] of [...this.#runs]) run.close(errorOf(key));
  }

  /** Not an async function: an async function would deliver the result some microtasks later. */
  run<T>(plan: MemoPlan<T>, fn: MemoWork<T>, options: MemoWait | undefined): Promise<MemoResult<T>> {
    return promiseOf(() => this.#call(plan, fn, options)).catch((error) => this.#runtime.refusals.refuse(error));
  }

  #call<T>(plan: MemoPlan<T>, fn: MemoWork<T>, options: MemoWait | undefined): Promise<MemoResult<T>> {
    const { key } = plan;
    const { engine } = this.#runtime;
    checkNames(options, WAIT_OPTIONS, 'the options of run()');
    if (typeof fn !== 'function') throw invalid(`run() needs a function, not ${shown(fn)}`, key);
    this.#runtime.assertOpen(key);
    if (Frame.around(this.#runtime, key, EXCLUSIVE)) throw insideItself(plan);
    const own = options ? limited(plan, options) : plan;
    if (own.keep > 0 && (this.#runs.get(key)?.refreshes ?? true)) return this.#lookFirst(own, fn);
    return this.#join(new Caller(engine, own, fn, engine.clock.now()));
  }

  /** Looks for a stored result, and joins a run if there is none. Only a call that may give up during the look needs a `Caller` before the join. */
  #lookFirst<T>(plan: MemoPlan<T>, fn: MemoWork<T>): Promise<MemoResult<T>> {
    const { engine } = this.#runtime;
    const { key } = plan;
    const { wait, signal } = plan.terms;
    const began = engine.clock.now();
    const impatient = signal || wait <= CALL_TIMEOUT_MS ? new Caller(engine, plan, fn, began) : undefined;
    impatient?.startLimits({ giveUp: (error) => impatient.reject(error), hasAnswer: () => false });
    if (impatient?.over) return impatient.result;
    const join = (looked?: ValueRecord): Promise<MemoResult<T>> =>
      this.#join(impatient ?? new Caller(engine, plan, fn, began), looked);
    const result = this.#look(key).then(
      (found) => {
        const looked = keptFor(plan.keep, found);
        const { value } = looked;
        if (value && isEnough(looked, plan)) return resultOf(engine.clock, plan, value);
        if (value) checkMatch(plan, readStored(value.text, key).match);
        return join(looked);
      },
      (error: unknown) => {
        // The engine did not answer the look. The claim of a run waits for the engine, and finds a stored result, too.
        if (!isLockError(error, 'LOCK_UNAVAILABLE') || (wait === 0 && this.#runs.has(key))) throw error;
        return join();
      },
    );
    if (!impatient) return result;
    result.then(
      (had) => impatient.resolve(had),
      (error) => impatient.reject(error),
    );
    return impatient.result;
  }

  /** Callers share a look that is under way. After a `forget` or the end of a run in this process, callers begin a new look. */
  #look(key: string): Promise<ValueRecord> {
    const known = this.#looks.get(key);
    if (known) return known.promise;
    const look = Promise.withResolvers<ValueRecord>();
    this.#looks.set(key, look);
    this.#underWay.set(look, key);
    const over = (): void => {
      this.#underWay.delete(look);
      if (this.#looks.get(key) === look) this.#looks.delete(key);
    };
    look.promise.then(over, over);
    this.#runtime.engine.look(key).then(look.resolve, look.reject);
    return look.promise;
  }

  #join<T>(caller: Caller<T>, looked?: ValueRecord): Promise<MemoResult<T>> {
    if (!caller.over) this.#enter(caller as Caller, looked);
    return caller.result;
  }

  #enter(caller: Caller, looked: ValueRecord | undefined): void {
    const { key } = caller.plan;
    const known = this.#runs.get(key);
    if (Frame.holdsAround(this.#runtime).length > 0) {
      // Another process may wait for what this caller holds. So this caller gets its own claim, which names these holds, and a deadlock can be found.
      known?.check(caller);
      void new SharedRun(this.#runtime, caller, looked, () => {}).serve();
      return;
    }
    if (known) {
      known.add(caller, looked);
      return;
    }
    const run: SharedRun = new SharedRun(this.#runtime, caller, looked, () => {
      if (this.#runs.get(key) === run) this.#shareNothing(key);
    });
    this.#runs.set(key, run);
    void inNoContext(() => run.serve());
  }

  /** Lets later callers share no look and no run of earlier callers: such a look or run may return a value that is gone by now. */
  #shareNothing(key: string): void {
    this.#looks.delete(key);
    this.#runs.delete(key);
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
    const { value, attempts, mark, begun } = plan.keep > 0 ? keptFor(plan.keep, found) : found;
    if (!value) {
      const holder = engine.backend.inspect ? await incumbentOf(engine.inspect(key, { exact: true })) : null;
      if (!holder) return { state: 'absent', attempts };
      if (holder.token === begun) checkMatch(plan, mark);
      return { state: 'running', attempts, by: holder.label };
    }
    const entry = opened(plan, readStored(value.text, key));
    const { kind } = entry;
    const times = {
      token: value.token,
      at: whenAt(engine.clock, ageOf(entry, value, key)),
      until: whenAt(engine.clock, -value.validFor),
    };
    if (kind === 'kept') return { state: kind, value: decoded(plan, entry.body), ...times };
    return { state: kind === 'unkept' ? 'failed' : kind, error: errorOf(entry, plan), ...times };
  }
}

function limited<T>(plan: MemoPlan<T>, { wait, signal }: MemoWait): MemoPlan<T> {
  const limit = wait !== undefined && { wait: waitIn(wait) };
  return { ...plan, terms: { ...plan.terms, ...limit, signal: abortSignal(signal, plan.key) } };
}

function insideItself({ key, backend }: Pick<MemoPlan, 'key' | 'backend'>): LockError {
  const message = `the result of ${quoted(key)} is asked for by the function that makes it`;
  return new LockError('LOCK_DEADLOCK', message, { key, backend });
}
