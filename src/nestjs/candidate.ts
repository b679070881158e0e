import type { Logger } from '@nestjs/common';
import type { Leader } from '../leading/leader.ts';
import type { Term } from '../leading/term.ts';
import type { Locks } from '../locks.ts';
import type { Candidacy } from './leading.ts';

/** The state of a candidate. `overdue`: its term ended long ago, and its method has not settled. */
export type CandidateState = 'waiting' | 'leading' | 'overdue';

const OVERDUE = 10_000;

/** One leading method of one object. */
export class Candidate {
  readonly name: string;
  readonly #leader: Leader;
  readonly #lead: (term: Term) => Promise<unknown>;
  readonly #logger: Logger;
  readonly #title: string;
  /** The term whose method runs, and when the method was told to end. */
  #term: { ended?: number } | undefined;

  /** @param title the method, for messages */
  constructor(
    locks: Locks,
    { name, options }: Candidacy,
    title: string,
    lead: (term: Term) => Promise<unknown>,
    logger: Logger,
  ) {
    this.name = name;
    this.#title = title;
    this.#logger = logger;
    this.#lead = lead;
    const onError = (error: unknown) =>
      logger.error(`${title} failed while it led ${name}; it will be elected again`, stackOf(error));
    this.#leader = locks.leader(name, options.autoCampaign === false ? options : { onError, ...options });
  }

  get standing(): CandidateState {
    if (this.#term === undefined) return 'waiting';
    const { ended } = this.#term;
    if (ended === undefined) return 'leading';
    return performance.now() - ended > OVERDUE ? 'overdue' : 'waiting';
  }

  /** Campaigns until `stop`, and until the method has settled. */
  async campaign(stop: AbortSignal): Promise<void> {
    try {
      await this.#leader.run((term) => this.#leading(term), { signal: stop });
    } catch (error) {
      this.#logger.error(`${this.#title} does not stand for election of ${this.name} any more`, stackOf(error));
    }
  }

  async #leading(term: Term): Promise<void> {
    const current: { ended?: number } = {};
    this.#term = current;
    term.signal.addEventListener('abort', () => (current.ended = performance.now()), { once: true });
    try {
      await this.#lead(term);
    } finally {
      this.#term = undefined;
    }
  }
}

const stackOf = (error: unknown): string | undefined => (error instanceof Error ? error.stack : String(error));
