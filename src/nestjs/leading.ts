import { type Logger, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { checkKey } from '../core/index.ts';
import { type DecoratedMethod, placeOf } from '../decorator/place.ts';
import type { Leader } from '../leading/leader.ts';
import { type LeaderOptions, leaderPlan } from '../leading/options.ts';
import type { Term } from '../leading/term.ts';
import type { Locks } from '../locks.ts';

type Method = (term: Term) => Promise<unknown>;

/** Decorates a method, as a standard decorator or a legacy one (`experimentalDecorators`). */
export interface LeadingDecorator {
  <M extends Method>(method: M, context: { readonly kind: 'method'; readonly name: string | symbol }): void;
  <M extends Method>(target: object, name: string | symbol, descriptor: TypedPropertyDescriptor<M>): void;
}

/** The arguments of `@Leading` on a method. */
export interface Candidacy {
  readonly name: string;
  readonly options: LeaderOptions;
}

const CANDIDACY = 'holdfast:leading';

/**
 * The method runs while this instance of the application leads the election of that name. Nest calls it with the term after
 * each election. It has to end when `term.signal` is aborted. The instance becomes a candidate when the application has
 * started. It stops, after the method has settled, before the dependencies of its class are destroyed. The class must be a
 * provider or controller that exists once.
 * @throws LockError `LOCK_INVALID`, when the class is made
 * @example
 * ```ts
 * import type { Term } from 'holdfast';
 * class Feed {
 *   @Leading('feed', { ttl: '15s' })
 *   async follow(term: Term): Promise<void> {
 *     while (!term.signal.aborted) await work(term.token, term.signal);
 *   }
 * }
 * ```
 */
export function Leading(name: string, options: LeaderOptions = {}): LeadingDecorator {
  leaderPlan(checkKey(name, 'the name of an election'), {}, options); // checks the options now, and not when the application has started
  const candidacy: Candidacy = { name, options };
  return ((...decorated: unknown[]) => {
    const { method }: DecoratedMethod = placeOf(decorated, '@Leading');
    SetMetadata(CANDIDACY, candidacy)(method);
  }) as LeadingDecorator;
}

const reflector = new Reflector();

/** Undefined of a method without `@Leading`. */
export const candidacyOf = (method: () => unknown): Candidacy | undefined =>
  reflector.get<Candidacy | undefined>(CANDIDACY, method);

/** The state of a candidate. `overdue`: its term ended long ago, and its method has not settled. */
export type CandidateState = 'waiting' | 'leading' | 'overdue';

const OVERDUE_MS = 10_000;

/** One leading method of one object. */
export class LeadingMethod {
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
    return performance.now() - ended > OVERDUE_MS ? 'overdue' : 'waiting';
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
