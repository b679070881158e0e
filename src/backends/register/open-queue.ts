import { type Attempt, type Claim, placeTtlOf, type RegisterEntry, systemClock } from '../../core/index.ts';
import { EngineQueue } from '../shared/queue.ts';
import { type StoredClaim, TokenCounter } from '../shared/stored-queue.ts';
import type { Calls } from './calls.ts';
import { type QueueDocument, queueDocumentOf } from './document.ts';
import { type Sight, type Sightings, StoreTime } from './sightings.ts';

/** Longest life of a place, ms. */
const MAX_LIFE_MS = 120_000;
/** A life is shorter by up to this part of it, at random: those who came together need not give their signs of life together. */
const SPREAD_PART = 0.4;
/** This number of turns is near: their places live as those of all engines, and ask as often. */
export const NEAR_TURNS = 4;
/** For each turn farther a place lives for the time of this number of writes: so all signs of life are a small part of all writes. */
const WRITES_PER_TURN = 200;
/** A turn takes no fewer requests than this: a hold is released, then noticed. */
const REQUESTS_PER_TURN = 3;
/** The part of a usual life that has to be left for two more tries of a sign of life. */
const RETRIES_PART = 0.75;

/**
 * Decides how long a place lives, and how often its claim asks. Each sign of life is a write of the one document, so the deeper a place is
 * in the queue, the longer it lives. The price: a dead waiter deep in the queue is noticed later, when it comes near at the latest.
 * @param usual how long a place lives otherwise, ms
 * @param ttl of its claim, ms: it may be admitted at any moment, and has to notice that within its lease
 * @param turns the number of turns of others that come first
 * @param took what a request takes, ms
 * @param longest the longest life that the store can keep, ms
 * @param random from 0 to 1
 * @returns in ms: `life`, from its last sign of life until the place expires; `renewAt`, of which no more is left when it gives the next one;
 *   `rest`: its questions need no request while the queue was seen less than that ago
 */
export function placeTerms(
  { usual, ttl, turns }: { usual: number; ttl: number; turns: number },
  { took, longest, random }: { took: number; longest: number; random: number },
) {
  const far = Math.max(0, turns - NEAR_TURNS);
  const whole = Math.min(MAX_LIFE_MS, longest, far * WRITES_PER_TURN * took);
  const life = Math.max(usual, whole * (1 - SPREAD_PART * random));
  const renewAt = Math.max(RETRIES_PART * usual, whole / 3);
  const rest = Math.min(ttl / 3, (renewAt - RETRIES_PART * usual) / 2, far * REQUESTS_PER_TURN * took);
  return { life, renewAt, rest };
}

const MAX_MARKS = 4;

/** The queue of a key while steps change it. It may be thrown away: nothing happens before it is written. */
export class OpenQueue extends EngineQueue implements QueueDocument {
  out: readonly string[];
  readonly #counter: TokenCounter;
  readonly #sight: Sight;
  readonly #pace: Parameters<typeof placeTerms>[1];

  constructor({ last, claims, out }: QueueDocument, sight: Sight, pace: Parameters<typeof placeTerms>[1]) {
    const counter = new TokenCounter(last);
    // A process that writes the queue, for any reason, leaves to those who come later for how long each claim was watched until now.
    super(
      counter,
      Array.from(claims, (claim) => ({ ...claim, watched: sight.watched(claim) })),
    );
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

  protected override readonly placeOf = (claim: Claim, mine?: StoredClaim) => {
    const { ttl } = claim;
    return placeTerms({ usual: placeTtlOf(claim), ttl, turns: this.#turnsBefore(claim, mine) }, this.#pace);
  };

  /** Those who can hold together have one turn, and no claim has more than one: beside a permit, a mutex has very many units. */
  #turnsBefore({ capacity }: Claim, mine?: StoredClaim): number {
    let turns = 0;
    for (const claim of this.claims) {
      if (claim === mine) break;
      turns += Math.min(1, claim.units / Math.min(capacity, claim.capacity));
    }
    return turns;
  }

  /** Removes a claim. @param by the mark of the step @returns true if this step removed it, now or by an earlier attempt of the same write */
  remove(by: string, isIt: (claim: StoredClaim) => boolean): boolean {
    if (!this.evict(isIt)) return this.out.includes(by);
    this.out = [by, ...this.out].slice(0, MAX_MARKS);
    return true;
  }
}

/** The queue of a key, as it was when it was last read or written here. */
export interface QueueState {
  readonly queue: QueueDocument;
  readonly text: string | undefined;
  readonly version: string | undefined;
  /** When that was, by the clock of this process. */
  readonly at: number;
  readonly sight: () => Sight;
}

export class QueueReader {
  /** What the last read took, ms. */
  took = 0;
  readonly key: string;
  readonly name: string;
  readonly calls: Calls;
  readonly sightings: Sightings;

  constructor(key: string, name: string, calls: Calls, sightings: Sightings) {
    this.key = key;
    this.name = name;
    this.calls = calls;
    this.sightings = sightings;
  }

  async read(): Promise<QueueState> {
    const { clock } = this.calls;
    const sent = clock.now();
    const entry = await this.calls.read(this.name);
    this.took = clock.now() - sent;
    return this.stateOf(entry, sent);
  }

  /** @param sent when the entry was asked for */
  stateOf(entry: RegisterEntry | undefined, sent: number): QueueState {
    const { clock, store } = this.calls;
    const { text, version, now } = entry ?? {};
    // Where a store has forgotten the last token, the clock on the wall is very likely ahead of it.
    const queue =
      text === undefined
        ? { last: BigInt(Math.floor(clock.epoch?.() ?? systemClock.epoch())) * 1_000n, claims: [], out: [] }
        : queueDocumentOf(text, this.key, store.name);
    this.sightings.see(this.key, queue.claims, clock.now());
    const sight = (): Sight =>
      now === undefined ? this.sightings.by(this.key, clock.now()) : new StoreTime(now, clock.now() - sent);
    return { queue, text, version, at: clock.now(), sight };
  }

  open({ queue, sight }: QueueState, seen = sight()): OpenQueue {
    const { clock, proof } = this.calls;
    const longest = (proof?.kept ?? Number.POSITIVE_INFINITY) / 2;
    return new OpenQueue(queue, seen, { took: this.took, longest, random: clock.random() });
  }
}
