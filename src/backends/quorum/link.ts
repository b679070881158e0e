import type { Clock } from '../../core/contract/clock.ts';
import { promiseOf } from '../../core/contract/promises.ts';
import type { CallTimeouts } from '../../core/engine/call-timeouts.ts';

/** A node that does not answer is asked again this often, and left out between. ms. */
const PROBE = 500;

/** Made once: with its stack an error costs more than a message. */
const SILENT = new Error('is silent');

/**
 * What becomes of a question, told by calls and not by a promise: every turn that is spent between an answer and the next question
 * is one in which that node, and the others behind it, have nothing to do.
 */
export interface Hearing<Answer> {
  answered(answer: Answer): void;
  /** The answer is unknown, or may not count. */
  failed(why: unknown): void;
  /** It was answered after it had failed. */
  late?(answer: Answer): void;
}

/** The way to one node, with a time limit for each question. It answers, or is silent from a limit that passed until an answer comes. */
export class Link {
  readonly clock: Clock;
  readonly #timeouts: CallTimeouts;
  #state: 'answers' | 'silent' = 'answers';
  #probeAt = 0;

  constructor(clock: Clock, timeouts: CallTimeouts) {
    this.clock = clock;
    this.#timeouts = timeouts;
  }

  /** Why it is of no use to ask now. A silent node is asked now and then, so that it is found when it is back. */
  get silence(): Error | undefined {
    if (this.#state === 'answers') return undefined;
    const now = this.clock.now();
    if (now < this.#probeAt) return SILENT;
    this.#probeAt = now + PROBE;
    return undefined;
  }

  answer<T>(call: () => Promise<T>, within: number): Promise<T> {
    const now = this.clock.now();
    return new Promise((answered, failed) => this.ask(call, within, now, { answered, failed }));
  }

  /** @param sent when, by the clock: now */
  ask<T>(call: () => Promise<T>, within: number, sent: number, hearing: Hearing<T>): void {
    const expired = (): void => {
      this.#state = 'silent';
      this.#probeAt = this.clock.now() + PROBE;
      hearing.failed(new Error(`no answer within ${Math.round(within)} ms`));
    };
    const asked = this.#timeouts.begin(within, expired, sent);
    promiseOf(call).then(
      (answer) => {
        this.#state = 'answers';
        try {
          if (this.#timeouts.end(asked)) hearing.answered(answer);
          else hearing.late?.(answer);
        } catch (error) {
          hearing.failed(error); // a backend of somebody else's may answer anything
        }
      },
      (error) => {
        this.#state = 'answers';
        if (this.#timeouts.end(asked)) hearing.failed(error);
      },
    );
  }
}
