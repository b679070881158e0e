import {
  abortSignal,
  checkNames,
  type Duration,
  invalid,
  LockError,
  type LockOptions,
  type LockRuntime,
  milliseconds,
  namesOf,
  quoted,
  shown,
} from '../core/index.ts';
import { Candidate } from './candidate.ts';
import { publish } from './events.ts';
import { type Incumbent, incumbentOf, Observer, POLL_BESIDE_WATCH_MS, POLL_MS } from './observer.ts';
import { type LeaderOptions, leaderPlan } from './options.ts';
import type { TermWork } from './term.ts';

/** How to campaign. */
export interface CampaignOptions {
  /** Ends the current term, or the wait for a term. `run` resolves when the function has settled and the term is given up. */
  readonly signal?: AbortSignal | undefined;
}

/** How to observe who leads. */
export interface ObserveOptions {
  /** Ends the observation. */
  readonly signal?: AbortSignal | undefined;
  /** How often to ask who leads: 50 ms to 1 h. Default 1 s; 10 s on an engine that reports changes (etcd, ZooKeeper). */
  readonly every?: Duration | undefined;
}

const CAMPAIGN = namesOf<CampaignOptions>({ signal: true });
const OBSERVE = namesOf<ObserveOptions>({ signal: true, every: true });

/** Makes an election. The constructor is private, so that the public types name no part of the core. */
export let leaderOf: (
  runtime: LockRuntime,
  name: string,
  defaults: LockOptions,
  options: LeaderOptions | undefined,
) => Leader;

/** An election: of all candidates with the same name one leads at a time. */
export class Leader {
  /** The name of the election, and the key of its lock. */
  readonly name: string;
  readonly #runtime: LockRuntime;
  readonly #candidate: Candidate;
  readonly #delay: number;
  #running = false;

  static {
    leaderOf = (...all) => new Leader(...all);
  }

  private constructor(runtime: LockRuntime, name: string, defaults: LockOptions, options: LeaderOptions | undefined) {
    this.name = name;
    this.#runtime = runtime;
    const plan = leaderPlan(name, defaults, options, runtime.engine.backend.traits.wakes);
    this.#delay = milliseconds(plan.lock.delay ?? 0, 'delay');
    this.#candidate = new Candidate(runtime, name, plan);
  }

  /**
   * Campaigns, runs `fn` when elected, and campaigns again, until `signal` is aborted. If the function settles, the term ends, and the
   * next campaign follows after a pause. `onError` gets the error of a function that fails, unless the term was ending.
   * @throws LockError `LOCK_INVALID` during another `run` of this object; `LOCK_CLOSED`. With `autoCampaign: false` the error
   * of `fn`
   * @example
   * await locks.leader('feed').run(
   *   async (term) => {
   *     while (!term.signal.aborted) await work(term.token, term.signal);
   *   },
   *   { signal },
   * );
   */
  async run(fn: TermWork, options: CampaignOptions = {}): Promise<void> {
    if (typeof fn !== 'function') throw invalid(`run() needs a function, not ${shown(fn)}`, this.name);
    checkNames(options, CAMPAIGN, 'the options of run()');
    const signal = abortSignal(options.signal, this.name);
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
   * Ends the current term: its signal is aborted. When the function has settled, the next candidate leads, and `run` campaigns again.
   * @returns whether there was a term. The promise resolves when the term is given up. Inside the function of the term, and in work that the function
   * started, it resolves at once, since the function may wait for the promise
   * @example
   * const leader = locks.leader('feed');
   * const led = await leader.resign();
   */
  resign(): Promise<boolean> {
    return this.#candidate.resign();
  }

  /**
   * Asks once, and returns the candidate that holds the lock, or null. A candidate that died while it waited may still get the lock. Then it is
   * named until its term expires, but its function never runs.
   * @throws LockError `LOCK_UNSUPPORTED` if the engine cannot list; `LOCK_UNAVAILABLE`
   * @example
   * const who = await locks.leader('feed').current();
   * console.log(who?.label ?? 'nobody leads');
   */
  async current(): Promise<Incumbent | null> {
    this.#checkListing();
    return incumbentOf(this.#runtime.engine.inspect(this.name, { exact: true }), this.#delay);
  }

  /**
   * Yields the leader, now and after each change, whether or not this object is a candidate. While you wait for a value, the engine is asked at least
   * as often as `every` says, and after changes that the engine reports. If the engine does not answer for a while, the observation goes on.
   * @throws LockError `LOCK_UNSUPPORTED`, at once, if the engine cannot list; `LOCK_INVALID`
   * @example
   * for await (const who of locks.leader('feed').observe({ signal })) {
   *   console.log(who?.label ?? 'nobody leads');
   * }
   */
  observe(options: ObserveOptions = {}): AsyncIterable<Incumbent | null> {
    checkNames(options, OBSERVE, 'the options of observe()');
    const { engine } = this.#runtime;
    const { every = engine.backend.changed ? POLL_BESIDE_WATCH_MS : POLL_MS } = options;
    const observation = {
      engine,
      key: this.name,
      every: milliseconds(every, 'every', { min: 50, max: 3_600_000 }),
      signal: abortSignal(options.signal, this.name),
      ask: () => this.current(),
      onFailure: (error: unknown) => publish('observationFailed', () => this.#candidate.event({ error })),
    };
    this.#checkListing();
    return new Observer(observation).changes();
  }

  #checkListing(): void {
    const { inspect, name: backend } = this.#runtime.engine.backend;
    if (inspect) return;
    const message = `${backend} cannot list its locks, so nobody can find out who leads ${quoted(this.name)}`;
    throw new LockError('LOCK_UNSUPPORTED', message, { key: this.name, backend });
  }
}
