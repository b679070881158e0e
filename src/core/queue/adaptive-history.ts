import type { Hints } from '../contract/backend.ts';
import { unsupported } from '../contract/options.ts';
import { onAbort } from '../contract/promises.ts';
import { lengthsFor, type Terms } from '../contract/terms.ts';
import type { Engine } from '../engine/engine.ts';

/** The time for which an engine keeps a lesson: a day, ms. */
const LESSON_TTL_MS = 86_400_000;
/** The longest time that a lesson may delay the lock, ms. */
const HINT_TIMEOUT_MS = 1_000;

/** Holders of a group store, as a hint, how long their work took. A hint is only advice, so an error with it is no error of the lock. */
export class AdaptiveHistory {
  readonly #hints: Hints;
  readonly #engine: Engine;
  readonly #group: string;
  readonly #cap: number;
  #lesson: Lesson | undefined;

  /** @throws LockError `LOCK_UNSUPPORTED` */
  constructor(engine: Engine, key: string, { group = key, cap }: NonNullable<Terms['adaptive']>) {
    const { hints, traits } = engine.backend;
    if (!hints || !traits.expires) {
      const lack = hints ? 'carries its holds by a session' : 'keeps no hints';
      throw unsupported(engine.backend, `adapt its leases, since it ${lack}; let them renew instead`, key);
    }
    this.#hints = hints;
    this.#engine = engine;
    this.#group = group;
    this.#cap = cap;
  }

  /** Gives the options with the lease that the last holders would have needed. */
  async lengthen(terms: Terms): Promise<Terms> {
    const read = (): Promise<string | undefined> => this.#hints.read(this.#group);
    this.#lesson = lessonIn(await this.#orNothing(read, terms.wait || HINT_TIMEOUT_MS, terms.signal));
    const lease = Math.min(this.#lesson?.lease ?? 0, this.#cap);
    if (lease <= terms.ttl) return terms;
    const longer = { ...terms, ttl: lease };
    return { ...longer, lengths: lengthsFor(longer, this.#engine.backend.traits) };
  }

  /** @param ttl the lease that was asked for */
  async save(took: number, ttl: number): Promise<void> {
    const lesson = learn(this.#lesson, took, ttl, this.#cap);
    if (!lesson && !this.#lesson) return;
    const text = lesson && textOf(lesson);
    await this.#orNothing(() => this.#hints.write(this.#group, text, LESSON_TTL_MS), HINT_TIMEOUT_MS);
  }

  async #orNothing<T>(ask: () => Promise<T>, within: number, signal?: AbortSignal): Promise<T | undefined> {
    const tried = this.#engine.limit(ask, Math.min(within, HINT_TIMEOUT_MS), 'a hint').catch(() => undefined);
    return signal ? unlessAborted(tried, signal) : tried;
  }
}

async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  const { promise: aborted, resolve } = Promise.withResolvers<undefined>();
  const unlisten = onAbort(signal, () => resolve(undefined));
  return Promise.race([aborted, work]).finally(unlisten);
}

/**
 * What is known of how long work takes. The usual duration is a moving average: 80 % of the old average and 20 % of the last duration. The next lease
 * is 1.5 times the longer of the usual and the last duration, so that work may take 50 % longer than before and keep its lease.
 */
export interface Lesson {
  /** Moving average of how long the lock was held, ms. */
  readonly usual: number;
  /** The next lease, ms: more than was asked for, up to the cap. */
  readonly lease: number;
}

const PAST_PART = 0.8;
const RECENT_PART = 0.2;
const HEADROOM = 1.5;

/**
 * Gives the lesson after work that took `took` ms; undefined, so that the lesson is forgotten, if the lease that was asked for is long enough.
 * @param before what was remembered until now
 * @param ttl the lease that was asked for, ms
 * @param cap the longest lease, ms
 */
export function learn(before: Lesson | undefined, took: number, ttl: number, cap: number): Lesson | undefined {
  const usual = before ? PAST_PART * before.usual + RECENT_PART * took : took;
  const lease = Math.ceil(Math.max(usual, took) * HEADROOM);
  return lease <= ttl ? undefined : { usual: Math.round(usual), lease: Math.min(lease, cap) };
}

export const textOf = ({ usual, lease }: Lesson): string => `1 ${usual} ${lease}`;

/** Reads a lesson. It gives undefined for any other text: a lesson is advice, and may be ignored. */
export function lessonIn(text: string | undefined): Lesson | undefined {
  const [, usual, lease] = /^1 (\d+) (\d+)$/.exec(text ?? '') ?? [];
  return lease === undefined ? undefined : { usual: Number(usual), lease: Number(lease) };
}
