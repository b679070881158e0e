import { EngineQueue } from '../shared/queue.ts';
import { type StoredClaim, TokenCounter } from '../shared/stored-queue.ts';
import type { QueueDocument } from './document.ts';
import type { Sight } from './sightings.ts';

/** So many marks of steps that removed a claim are kept. */
const MAX_MARKS = 4;

/** The queue of a key while steps change it. It may be thrown away: nothing happens before it is written. */
export class OpenQueue extends EngineQueue implements QueueDocument {
  out: readonly string[];
  readonly #counter: TokenCounter;

  constructor({ last, claims, out }: QueueDocument, sight: Sight) {
    const counter = new TokenCounter(last);
    // A process that writes the queue, for any reason, leaves to those who come later for how long each claim was watched until now.
    super(counter, { claims: Array.from(claims, (claim) => ({ ...claim, watched: sight.watched(claim) })) });
    this.#counter = counter;
    this.out = out;
    this.at(sight);
  }

  get last(): bigint {
    return this.#counter.last;
  }

  /** Removes a claim. @param by the mark of the step @returns whether that was this step, now or with an earlier try of its write */
  remove(by: string, isIt: (claim: StoredClaim) => boolean): boolean {
    if (!this.evict(isIt)) return this.out.includes(by);
    this.out = [by, ...this.out].slice(0, MAX_MARKS);
    return true;
  }
}
