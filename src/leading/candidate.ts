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
  quoted,
} from '../core/index.ts';
import { type Mutex, mutex } from '../primitives/lock.ts';
import { type LeaderEvent, tell } from './events.ts';
import { lead, type SettledTerm, type TermWork } from './office.ts';
import type { LeaderPlan } from './options.ts';
import type { HeldTerm } from './term.ts';

/** A term that has ended: its function has settled, and the lease is released or lost. */
interface Past extends SettledTerm {
  /** From the election to the end, ms. */
  readonly lasted: number;
}

/** Stands for election again and again, and leads its terms. */
export class Candidate {
  readonly #name: string;
  readonly #runtime: LockRuntime;
  readonly #mutex: Mutex;
  readonly #plan: LeaderPlan;
  /** The current term. */
  #current: { readonly term: HeldTerm; readonly hold: Hold; readonly over: PromiseWithResolvers<void> } | undefined;

  constructor(runtime: LockRuntime, name: string, plan: LeaderPlan) {
    this.#name = name;
    this.#runtime = runtime;
    this.#plan = plan;
    this.#mutex = mutex(runtime, name, new LayeredOptions(runtime.engine.backend.traits, plan.lock));
  }

  /** Campaigns until `stop`. Without `autoCampaign` it leads one term, and throws the error of its function. */
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

  /** @returns whether there was a term; resolves when it is over, or at once where its own function would wait for itself */
  async resign(): Promise<boolean> {
    if (!this.#current) return false;
    const { term, hold, over } = this.#current;
    const { name: backend } = this.#runtime.engine.backend;
    const message = `the term of ${JSON.stringify(this.#name)} on ${backend} was resigned`;
    term.end('resigned', new LockError('LOCK_ABORTED', message, { key: this.#name, backend }));
    if (!Frame.isInside(hold, this.#runtime)) await over.promise;
    return true;
  }

  event(more: Partial<LeaderEvent> = {}): LeaderEvent {
    const { label } = this.#plan;
    const { number: locks, engine } = this.#runtime;
    return { version: EVENT_VERSION, locks, backend: engine.backend.name, name: this.#name, label, ...more };
  }

  /**
   * Waits to be elected, and leads. If the engine does not answer, it asks again: a candidate that gave up would be missing
   * after the others have died.
   * @throws LockError `LOCK_CLOSED`, and what no later attempt would change
   * @returns undefined if `stop` came before a term
   */
  async #nextTerm(work: TermWork, stop: AbortSignal | undefined): Promise<Past | undefined> {
    const { engine } = this.#runtime;
    const { pause } = this.#plan;
    for (let tries = 0; !stop?.aborted; tries++) {
      try {
        return await this.#stand(work, stop);
      } catch (error) {
        if (isLockError(error, 'LOCK_ABORTED')) return undefined;
        if (!isLockError(error, 'LOCK_UNAVAILABLE')) throw error;
        tell('campaignFailed', () => this.event({ error }));
      }
      await engine.activity.pause(backOff(pause, tries, engine.clock.random()), false, stop);
    }
    return undefined;
  }

  async #stand(work: TermWork, stop: AbortSignal | undefined): Promise<Past> {
    const { clock } = this.#runtime.engine;
    const began = clock.now();
    let elected = 0;
    let request: number | undefined;
    const over = Promise.withResolvers<void>();
    try {
      const settled = await this.#mutex.run(
        (lease) => {
          elected = clock.now();
          const held = heldLease(lease);
          const { hold } = held;
          request = held.request;
          return lead(lease, work, {
            name: this.#name,
            clock,
            settle: this.#plan.settle,
            stop,
            began: (term) => {
              this.#current = { term, hold, over };
              tell('elected', () => this.event({ request, token: term.token, duration: elected - began }));
            },
            overdue: ({ token, why }) =>
              tell('termOverdue', () => this.event({ request, token, why, duration: clock.now() - elected })),
          });
        },
        { signal: stop },
      );
      const { term, failed, error } = settled;
      const past = { ...settled, lasted: clock.now() - elected };
      const why = term.why ?? (failed ? 'failed' : 'settled');
      const { token } = term;
      tell('termEnded', () => this.event({ request, token, why, duration: past.lasted, ...(failed && { error }) }));
      return past;
    } finally {
      this.#current = undefined;
      over.resolve();
    }
  }
}
