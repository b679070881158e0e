import { type Attempt, type Claim, placeTtlOf } from '../../core/index.ts';
import { EngineQueue } from '../shared/queue.ts';
import { type StoredClaim, TokenCounter } from '../shared/stored-queue.ts';
import type { QueueDocument } from './document.ts';
import { NEAR_TURNS, type PlaceTerms, placeTerms, type StorePace } from './place-terms.ts';
import type { Sight } from './sightings.ts';

/** So many marks of steps that removed a claim are kept. */
const MAX_MARKS = 4;

/** The queue of a key while steps change it. It may be thrown away: nothing happens before it is written. */
export class OpenQueue extends EngineQueue implements QueueDocument {
  out: readonly string[];
  readonly #counter: TokenCounter;
  readonly #sight: Sight;
  readonly #pace: StorePace;

  constructor({ last, claims, out }: QueueDocument, sight: Sight, pace: StorePace) {
    const counter = new TokenCounter(last);
    // A process that writes the queue, for any reason, leaves to those who come later for how long each claim was watched until now.
    super(counter, { claims: Array.from(claims, (claim) => ({ ...claim, watched: sight.watched(claim) })) });
    this.#counter = counter;
    this.#sight = sight;
    this.#pace = pace;
    this.out = out;
    this.at(sight);
  }

  get last(): bigint {
    return this.#counter.last;
  }

  /**
   * Answers a claim that waits far behind, without a change of the queue.
   * @param age of what is known, ms; undefined: it is new, and others were first with their writes again and again
   * @returns undefined where it has to be a real attempt
   */
  putOff(claim: Claim, age?: number): Attempt | undefined {
    const mine = this.find(claim.id);
    if (!claim.queue || mine?.held) return undefined;
    const { renewAt, rest } = this.placeOf(claim, mine);
    if (age === undefined && !mine) return this.#turnsBefore(claim) > NEAR_TURNS ? { granted: false } : undefined;
    const left = mine ? this.#sight.remaining(mine) : 0;
    const isEnough = age === undefined ? left > renewAt / 2 : age < rest && left > renewAt;
    return mine && isEnough ? this.attempt(claim) : undefined;
  }

  protected override readonly placeOf = (claim: Claim, mine?: StoredClaim): PlaceTerms => {
    const { ttl } = claim;
    return placeTerms({ usual: placeTtlOf(claim), ttl, turns: this.#turnsBefore(claim, mine) }, this.#pace);
  };

  /** Those who can hold together have one turn. */
  #turnsBefore({ capacity }: Claim, mine?: StoredClaim): number {
    let units = 0;
    for (const claim of this.claims) {
      if (claim === mine) break;
      units += claim.units;
    }
    return units / capacity;
  }

  /** Removes a claim. @param by the mark of the step @returns whether that was this step, now or with an earlier try of its write */
  remove(by: string, isIt: (claim: StoredClaim) => boolean): boolean {
    if (!this.evict(isIt)) return this.out.includes(by);
    this.out = [by, ...this.out].slice(0, MAX_MARKS);
    return true;
  }
}
