import type { Hints } from '../contract/backend.ts';
import { unsupported } from '../contract/capability.ts';
import { lengthsFor } from '../contract/lengths.ts';
import type { Terms } from '../contract/terms.ts';
import type { Engine } from '../engine/engine.ts';
import { type Lesson, learn, lessonIn, noteOf } from './adaptive.ts';

/** The time for which a lesson is remembered, ms. */
const DAY = 86_400_000;
/** The longest time that a lesson may delay the lock, ms. */
const NOTE_TIMEOUT = 1_000;

/**
 * Holders of a group leave a note for the next: how long their work took. It is only advice, so an error with it is no error of the lock.
 */
export class AdaptiveHistory {
  readonly #notes: Hints;
  readonly #engine: Engine;
  readonly #group: string;
  readonly #cap: number;
  #before: Lesson | undefined;

  private constructor(notes: Hints, engine: Engine, group: string, cap: number) {
    this.#notes = notes;
    this.#engine = engine;
    this.#group = group;
    this.#cap = cap;
  }

  /**
   * Gives undefined for options that are not adaptive.
   * @throws LockError `LOCK_UNSUPPORTED`
   */
  static of(engine: Engine, key: string, { adaptive }: Terms): AdaptiveHistory | undefined {
    const { backend } = engine;
    if (!adaptive) return undefined;
    if (backend.hints && backend.traits.expires)
      return new AdaptiveHistory(backend.hints, engine, adaptive.group ?? key, adaptive.cap);
    const lack = backend.hints ? 'carries its holds by a session' : 'keeps no notes';
    throw unsupported(backend, `adapt its leases, since it ${lack}; let them renew instead`, key);
  }

  /** Gives the options with the lease that the last holders would have needed. */
  async lengthen(terms: Terms): Promise<Terms> {
    this.#before = lessonIn(
      await this.#orNothing(() => this.#notes.read(this.#group), terms.wait || NOTE_TIMEOUT, terms.signal),
    );
    const lease = Math.min(this.#before?.lease ?? 0, this.#cap);
    if (lease <= terms.ttl) return terms;
    const longer = { ...terms, ttl: lease };
    return { ...longer, lengths: lengthsFor(longer, this.#engine.backend.traits) };
  }

  /** @param ttl the lease that was asked for */
  async leave(took: number, ttl: number): Promise<void> {
    const lesson = learn(this.#before, took, ttl, this.#cap);
    if (!lesson && !this.#before) return;
    await this.#orNothing(() => this.#notes.write(this.#group, lesson && noteOf(lesson), DAY), NOTE_TIMEOUT);
  }

  async #orNothing<T>(ask: () => Promise<T>, within: number, signal?: AbortSignal): Promise<T | undefined> {
    const tried = this.#engine.limit(ask, Math.min(within, NOTE_TIMEOUT), 'a note').catch(() => undefined);
    return signal ? unlessAborted(tried, signal) : tried;
  }
}

async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  if (signal.aborted) return undefined;
  const { promise: aborted, resolve } = Promise.withResolvers<undefined>();
  const abort = (): void => resolve(undefined);
  signal.addEventListener('abort', abort, { once: true });
  return Promise.race([work, aborted]).finally(() => signal.removeEventListener('abort', abort));
}
