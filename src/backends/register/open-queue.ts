import { type Attempt, type Claim, placeTtlOf, type RegisterEntry, systemClock } from '../../core/index.ts';
import { EngineQueue } from '../shared/queue.ts';
import { admits, type StoredClaim, TokenCounter } from '../shared/stored-queue.ts';
import type { Calls } from './calls.ts';
import { type QueueDocument, queueDocumentOf, queueText } from './document.ts';
import type { Sight, Sightings } from './sightings.ts';

/** The longest life of a place, ms. */
const MAX_LIFE_MS = 120_000;
/** The largest part of a life that is cut off at random, so that claims that came together give their signs of life at different times. */
const SPREAD_PART = 0.4;
/** A claim with at most this many turns before it is near: its place lives as long, and the claim asks as often, as on other engines. */
export const NEAR_TURNS = 4;
/** Each further turn lengthens the life of a place by the time of this many writes, so that signs of life stay a small part of all writes. */
const WRITES_PER_TURN = 200;
/** A turn takes at least this many requests: the hold is released, then others notice. */
const REQUESTS_PER_TURN = 3;
/** The part of a usual life that must remain, so that a sign of life can be attempted twice more. */
const RETRIES_PART = 0.75;

/**
 * Decides how long a place lives, and how often its claim asks. Each sign of life is a write of the one document. So a place far back in the
 * queue lives longer. The price: a dead waiter far back is noticed later, at the latest when its place comes near.
 * @param usual how long a place lives on other engines, ms
 * @param ttl the lease of its claim, ms: the claim may be admitted at any moment, and has to notice that within its lease
 * @param turns the number of turns of others that come first
 * @param took what a request takes, ms
 * @param longest the longest life that the store can keep, ms
 * @param random from 0 to 1
 * @returns in ms: `life`, from a sign of life until the place expires; `renewAt`: with less than this remaining, the claim gives the next sign of
 *   life; `rest`: an attempt within this time after the read of the queue needs no request
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
/** The longest text of a queue that this engine may have to write, bytes. An item of DynamoDB has 400 KB, a message of NATS 1 MB. */
export const MAX_QUEUE_BYTES = 262_144;
/** More than the text of a claim can have, bytes. */
const MAX_CLAIM_BYTES = 2_048;
/** About what the text of a claim without a label has, bytes. */
const USUAL_CLAIM_BYTES = 192;
/** By how much the numbers in the text of a claim may grow, bytes: a queue that is full still has to take a renewal of each claim. */
const GROWTH_BYTES = 32;

/** The queue of a key while steps change it. Steps have no effect before the queue is written, so it may be thrown away. */
export class OpenQueue extends EngineQueue implements QueueDocument {
  out: readonly string[];
  readonly #counter: TokenCounter;
  readonly #sight: Sight;
  readonly #pace: Parameters<typeof placeTerms>[1];
  /** The claims that have expired as this process sees it. They are in the store, and a process that has watched nothing takes them for alive. */
  readonly #overdue: readonly StoredClaim[];
  /** Whether a step removes an overdue claim, so that the queue has to be written without it. */
  #clears = false;
  /** About how many bytes the text of the queue has; undefined until a claim needs room. */
  #bytes: number | undefined;

  constructor({ last, claims, out }: QueueDocument, sight: Sight, pace: Parameters<typeof placeTerms>[1]) {
    const counter = new TokenCounter(last);
    // Each write of the queue also stores for how long this process has seen no new sign of life of each claim.
    const stored = Array.from(claims, (claim) => ({ ...claim, watched: sight.watched(claim) }));
    super(counter, stored);
    this.#counter = counter;
    this.#sight = sight;
    this.#pace = pace;
    this.out = out;
    this.at(sight);
    this.#overdue = stored.filter(({ id, watched }) => watched !== undefined && !this.find(id));
  }

  override get changed(): boolean {
    return super.changed || this.#clears;
  }

  get last(): bigint {
    return this.#counter.last;
  }

  /**
   * Answers a claim far back in the queue without a change of the queue.
   * @param age of this queue, ms; undefined: the queue is fresh, and writes of other processes came first several times
   * @returns undefined if a real attempt is needed
   */
  putOff(claim: Claim, age?: number): Attempt | undefined {
    const mine = this.find(claim.id);
    if (!claim.queue || mine?.held) return undefined;
    const { renewAt, rest } = this.placeOf(claim, mine);
    if (age === undefined && !mine) return this.#turnsBefore(claim) > NEAR_TURNS ? { granted: false } : undefined;
    const remaining = mine ? this.#sight.remaining(mine) : 0;
    const isEnough = age === undefined ? remaining > renewAt / 2 : age < rest && remaining > renewAt;
    return mine && isEnough ? this.attempt(claim) : undefined;
  }

  protected override readonly placeOf = (claim: Claim, mine?: StoredClaim) => {
    const { ttl } = claim;
    return placeTerms({ usual: placeTtlOf(claim), ttl, turns: this.#turnsBefore(claim, mine) }, this.#pace);
  };

  /** Claims that can hold together share a turn. No claim counts as more than one turn: a mutex between permits has very many units. */
  #turnsBefore({ capacity }: Claim, mine?: StoredClaim): number {
    let turns = 0;
    for (const claim of this.claims) {
      if (claim === mine) break;
      turns += Math.min(1, claim.units / Math.min(capacity, claim.capacity));
    }
    return turns;
  }

  /** Reserves room in the text of the queue for the claim, if it would join. @returns an error if there is no room */
  reserve(claim: Claim): Error | undefined {
    const claims = [...this.claims];
    if (!claim.queue && !admits(claims, claim)) return undefined;
    this.#bytes ??= Buffer.byteLength(queueText(claim.key, this, ''));
    if (this.#bytes + claims.length * GROWTH_BYTES + MAX_CLAIM_BYTES > MAX_QUEUE_BYTES)
      return new Error(`the queue of this key has no room for one more claim after ${claims.length}`);
    this.#bytes += USUAL_CLAIM_BYTES + Buffer.byteLength(claim.label);
    return undefined;
  }

  /** Removes a claim. @param by the mark of the step @returns whether this step has removed it, now or by a write that was sent before */
  remove(by: string, isIt: (claim: StoredClaim) => boolean): boolean {
    if (!this.evict(isIt)) {
      this.#clears ||= this.#overdue.some(isIt);
      return this.out.includes(by);
    }
    this.out = [by, ...this.out].slice(0, MAX_MARKS);
    return true;
  }
}

/** The queue of a key, as this process last read or wrote it. */
export interface QueueState {
  readonly queue: QueueDocument;
  readonly text: string | undefined;
  readonly version: string | undefined;
  /** When the queue was read or written, by the clock of this process. */
  readonly at: number;
  readonly sight: () => Sight;
}

export class QueueReader {
  /** How long the last read took, ms. */
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
    const sent = clock.resync(); // otherwise a sleep before this line would count as a part of the request
    const entry = await this.calls.read(this.name);
    this.took = clock.now() - sent;
    return this.stateOf(entry, sent);
  }

  /**
   * @param entry undefined for a guess that there is no document; a guess forgets nothing that was seen
   * @param sent when the request for the entry was sent
   */
  stateOf(entry: RegisterEntry | undefined, sent: number): QueueState {
    const { clock, store } = this.calls;
    const { text, version, now } = entry ?? {};
    // If the document was removed, its last token is lost. The wall clock, in µs, is very likely ahead of that token.
    const queue =
      text === undefined
        ? { last: BigInt(Math.floor(clock.epoch?.() ?? systemClock.epoch())) * 1_000n, claims: [], out: [] }
        : queueDocumentOf(text, this.key, store.name);
    if (entry) this.sightings.see(this.key, queue.claims, clock.resync());
    const sight = (): Sight => this.sightings.by(this.key, clock.now(), now, sent);
    return { queue, text, version, at: clock.now(), sight };
  }

  open({ queue, sight }: QueueState): OpenQueue {
    const { clock, proof } = this.calls;
    const longest = (proof?.kept ?? Number.POSITIVE_INFINITY) / 2;
    return new OpenQueue(queue, sight(), { took: this.took, longest, random: clock.random() });
  }
}
