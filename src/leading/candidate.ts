import {
  backOff,
  callListener,
  EVENT_VERSION,
  Frame,
  type Hold,
  heldLease,
  isLockError,
  LayeredOptions,
  LockError,
  type LockRuntime,
  onAbort,
  quoted,
} from '../core/index.ts';
import { type Mutex, mutex } from '../primitives/lock.ts';
import { type LeaderEvent, publish, type TermEnd } from './events.ts';
import { type LeasedRun, leasedRun } from './leased-run.ts';
import type { LeaderPlan } from './options.ts';
import type { Term, TermWork } from './term.ts';

interface Settled {
  /** Whether the function failed before its term ended. */
  readonly failed: boolean;
  readonly error?: unknown;
}

/** A term that has ended: its function has settled, and the lease is released or lost. */
interface PastTerm extends Settled {
  /** From the election to the end, ms. */
  readonly lasted: number;
}

interface CurrentTerm {
  readonly term: LeasedRun & Term;
  readonly hold: Hold;
  readonly over: PromiseWithResolvers<void>;
  /** The first reason of the end; undefined while the term lasts. */
  why?: TermEnd;
}

function endTerm(current: CurrentTerm, why: TermEnd, reason: unknown): void {
  if (current.why !== undefined) return;
  current.why = why;
  current.term.abort(reason);
}

/** Asks for the lock of the election again and again, and runs the function in each term. */
export class Candidate {
  readonly #name: string;
  readonly #runtime: LockRuntime;
  readonly #mutex: Mutex;
  readonly #plan: LeaderPlan;
  #current: CurrentTerm | undefined;

  constructor(runtime: LockRuntime, name: string, plan: LeaderPlan) {
    this.#name = name;
    this.#runtime = runtime;
    this.#plan = plan;
    this.#mutex = mutex(runtime, name, new LayeredOptions(runtime.engine.backend.traits, plan.lock));
  }

  /** Campaigns until `stop` is aborted. Without `autoCampaign` it leads one term, and throws the error of its function. */
  async campaign(work: TermWork, stop: AbortSignal | undefined): Promise<void> {
    const { engine } = this.#runtime;
    const { pause, autoCampaign, onError } = this.#plan;
    for (let short = 0; !stop?.aborted; short++) {
      const past = await this.#nextTerm(work, stop);
      if (!past) return;
      if (!autoCampaign) {
        if (past.failed) throw past.error;
        return;
      }
      if (past.failed) callListener(`onError of leader ${quoted(this.#name)}`, onError, past.error);
      if (past.lasted > pause.bound) short = 0;
      await engine.activity.pause(backOff(pause, short, engine.clock.random()), false, stop);
    }
  }

  /**
   * @returns whether there was a term. The promise resolves when the term is over; inside the function of the term, it resolves at once, since the
   * function would otherwise wait for itself.
   */
  async resign(): Promise<boolean> {
    if (!this.#current) return false;
    const { hold, over } = this.#current;
    const { name: backend } = this.#runtime.engine.backend;
    const message = `the term of ${JSON.stringify(this.#name)} on ${backend} was resigned`;
    endTerm(this.#current, 'resigned', new LockError('LOCK_ABORTED', message, { key: this.#name, backend }));
    if (!Frame.holdsAround(this.#runtime).includes(hold)) await over.promise;
    return true;
  }

  event(more: Partial<LeaderEvent> = {}): LeaderEvent {
    const { label } = this.#plan;
    const { number: locks, engine } = this.#runtime;
    return { version: EVENT_VERSION, locks, backend: engine.backend.name, name: this.#name, label, ...more };
  }

  /**
   * Waits to be elected, and leads. If the engine does not answer, the candidate asks again: if it gave up, and all others died, nobody would lead.
   * @throws LockError `LOCK_CLOSED`, and every error that no later attempt would change
   * @returns undefined if `stop` was aborted before a term
   */
  async #nextTerm(work: TermWork, stop: AbortSignal | undefined): Promise<PastTerm | undefined> {
    const { engine } = this.#runtime;
    const { pause } = this.#plan;
    for (let attempts = 0; !stop?.aborted; attempts++) {
      try {
        return await this.#stand(work, stop);
      } catch (error) {
        if (isLockError(error, 'LOCK_ABORTED')) return undefined;
        // LOCK_LOST: the hold was over before the term began.
        if (!isLockError(error, 'LOCK_UNAVAILABLE') && !isLockError(error, 'LOCK_LOST')) throw error;
        publish('campaignFailed', () => this.event({ error }));
      }
      await engine.activity.pause(backOff(pause, attempts, engine.clock.random()), false, stop);
    }
    return undefined;
  }

  async #stand(work: TermWork, stop: AbortSignal | undefined): Promise<PastTerm> {
    const { clock } = this.#runtime.engine;
    const began = clock.now();
    const over = Promise.withResolvers<void>();
    let current!: CurrentTerm;
    let request: number | undefined;
    let elected = 0;
    const sinceElection = (): Partial<LeaderEvent> => ({
      request,
      token: current.term.token,
      why: current.why,
      duration: clock.now() - elected,
    });
    try {
      const settled = await this.#mutex.run(
        (lease) => {
          elected = clock.now();
          const held = heldLease(lease);
          request = held.request;
          current = { term: leasedRun([{ lease }], { name: this.#name }), hold: held.hold, over };
          this.#current = current;
          publish('elected', () => this.event({ request, token: lease.token, duration: elected - began }));
          return this.#lead(current, work, stop, () => publish('termOverdue', () => this.event(sinceElection())));
        },
        { signal: stop },
      );
      const { failed, error } = settled;
      publish('termEnded', () => this.event({ ...sinceElection(), ...(failed && { error }) }));
      return { ...settled, lasted: clock.now() - elected };
    } finally {
      this.#current = undefined;
      over.resolve();
    }
  }

  /**
   * Runs the function until it settles, and aborts its signal if the term ends earlier. The lease is kept until the function has settled: after an
   * early release the next leader would begin beside this function.
   */
  async #lead(
    current: CurrentTerm,
    work: TermWork,
    stop: AbortSignal | undefined,
    onOverdue: () => void,
  ): Promise<Settled> {
    const { term } = current;
    let cancel: (() => void) | undefined;
    const unlisten = onAbort(term.signal, () => {
      cancel = this.#runtime.engine.clock.after(this.#plan.settle, onOverdue, true);
    });
    term.listen(
      stop,
      (loss) => endTerm(current, 'lost', loss),
      (reason) => endTerm(current, 'stopped', reason),
    );
    try {
      if (current.why === undefined) await work(term);
      current.why ??= 'settled'; // now, since the release may take long, and resign() come during it
      return { failed: false };
    } catch (error) {
      // A function that was asked to end may throw, for example the reason of the signal. Such an error is no failure.
      current.why ??= 'failed';
      return { failed: current.why === 'failed', error };
    } finally {
      cancel?.();
      unlisten();
      term.over();
    }
  }
}
