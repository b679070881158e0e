import { type Duration, milliseconds } from '../core/duration.ts';
import { quoted } from '../core/engine.ts';
import { invalid, LockError, shown } from '../core/errors.ts';
import { checkNames, type LockOptions } from '../core/options.ts';
import type { LockRuntime } from '../core/runtime.ts';
import { Candidate } from './candidate.ts';
import { tell } from './events.ts';
import { News, TOLD, UNTOLD } from './news.ts';
import { changes, type Incumbent, incumbentOf } from './observer.ts';
import type { TermWork } from './office.ts';
import { type LeaderOptions, leaderPlan } from './options.ts';

/** How to stand for election. */
export interface CampaignOptions {
  /** Ends the term under way, or the wait for one; `run` resolves when the function has settled and the term was given up. */
  readonly signal?: AbortSignal | undefined;
}

/** How to look who leads. */
export interface ObserveOptions {
  /** Ends the observation. */
  readonly signal?: AbortSignal | undefined;
  /** How often to ask who leads: 50 ms to 1 h. Default 1 s; 10 s on an engine that tells of changes (etcd, ZooKeeper). */
  readonly every?: Duration | undefined;
}

/** An election: one of all candidates of a name leads at a time. */
export class Leader {
  /** Of the election, and the key of its lock. */
  readonly name: string;
  readonly #runtime: LockRuntime;
  readonly #candidate: Candidate;
  readonly #delay: number;
  #running = false;

  /** @internal Use `locks.leader`. */
  constructor(runtime: LockRuntime, name: string, defaults: LockOptions, options: LeaderOptions | undefined) {
    this.name = name;
    this.#runtime = runtime;
    const plan = leaderPlan(name, defaults, options, runtime.engine.backend.traits.wakes);
    this.#delay = milliseconds(plan.lock.delay ?? 0, 'delay');
    this.#candidate = new Candidate(runtime, name, plan);
  }

  /**
   * Campaigns, runs `fn` when elected, and campaigns again, until told to stop. A function that settles gives the term up; the next
   * campaign comes after a pause. One that fails is told to `onError`, unless the term was ending.
   * @throws LockError `LOCK_INVALID` while another `run` of this object is under way; `LOCK_CLOSED`. With `autoCampaign: false` what `fn` throws
   */
  async run(fn: TermWork, options: CampaignOptions = {}): Promise<void> {
    if (typeof fn !== 'function') throw invalid(`run() needs a function, not ${shown(fn)}`, this.name);
    checkNames(options, new Set(['signal']), 'the options of run()');
    const { signal } = options;
    if (signal !== undefined && !(signal instanceof AbortSignal))
      throw invalid(`signal is ${shown(signal)}; it must be an AbortSignal`, this.name);
    if (this.#running)
      throw invalid(
        `leader ${quoted(this.name)} runs already; one run() at a time, or another locks.leader() of the same name`,
        this.name,
      );
    this.#running = true;
    try {
      await this.#candidate.campaign(fn, signal);
    } finally {
      this.#running = false;
    }
  }

  /**
   * Ends the term under way: its signal tells the function, and when that has settled the next candidate leads. `run` then campaigns again.
   * @returns whether there was a term; settled when it was given up
   */
  resign(): Promise<boolean> {
    return this.#candidate.resign();
  }

  /**
   * Who leads, or null. One question to the engine.
   * @throws LockError `LOCK_UNSUPPORTED` where the engine cannot list; `LOCK_UNAVAILABLE`
   */
  async current(): Promise<Incumbent | null> {
    this.#checkListing();
    return incumbentOf(this.#runtime.engine.inspect(this.name, { exact: true }), this.#delay);
  }

  /**
   * Who leads, now and after each change, whether or not this object stands for election. Where the engine tells that the line of
   * candidates changes, it is asked then; also `every` so often, and once for each value that is taken. An engine that cannot be asked for a
   * while is asked again.
   * @throws LockError `LOCK_UNSUPPORTED`, at once, where the engine cannot list; `LOCK_INVALID`
   */
  observe(options: ObserveOptions = {}): AsyncIterable<Incumbent | null> {
    checkNames(options, new Set(['signal', 'every']), 'the options of observe()');
    const { engine } = this.#runtime;
    const { signal, every = engine.backend.changed ? TOLD : UNTOLD } = options;
    const rate = milliseconds(every, 'every', { min: 50, max: 3_600_000 });
    this.#checkListing();
    const news = new News(engine, this.name, rate, signal);
    return changes({
      ask: () => news.arm().then(() => this.current()),
      pause: () => news.pause(),
      end: news.end,
      failed: (error) => void tell('observationFailed', () => this.#candidate.event({ error })),
      left: () => signal?.aborted === true || engine.activity.over,
    });
  }

  #checkListing(): void {
    const { inspect, name: backend } = this.#runtime.engine.backend;
    if (inspect) return;
    const message = `${backend} cannot list its locks, so nobody can be told who leads ${quoted(this.name)}`;
    throw new LockError('LOCK_UNSUPPORTED', message, { key: this.name, backend });
  }
}
