import { type RegisterEntry, systemClock } from '../../core/index.ts';
import type { Calls } from './calls.ts';
import { type QueueDocument, queueDocumentOf } from './document.ts';
import { OpenQueue } from './open-queue.ts';
import { type Sight, type Sightings, StoreTime } from './sightings.ts';

/** The queue of a key, as it was when it was last read or written here. */
export interface QueueState {
  readonly queue: QueueDocument;
  readonly text: string | undefined;
  readonly version: string | undefined;
  /** When that was, by the clock of this process. */
  readonly at: number;
  readonly sight: () => Sight;
}

/** The queue of one key as the store shows it. */
export class QueueReader {
  /** What the last read took, ms. */
  took = 0;
  readonly #key: string;
  readonly #name: string;
  readonly #calls: Calls;
  readonly #sightings: Sightings;

  constructor(key: string, name: string, calls: Calls, sightings: Sightings) {
    this.#key = key;
    this.#name = name;
    this.#calls = calls;
    this.#sightings = sightings;
  }

  async read(): Promise<QueueState> {
    const { clock } = this.#calls;
    const sent = clock.now();
    const entry = await this.#calls.read(this.#name);
    this.took = clock.now() - sent;
    return this.stateOf(entry, sent);
  }

  /** @param sent when the entry was asked for */
  stateOf(entry: RegisterEntry | undefined, sent: number): QueueState {
    const { clock, store } = this.#calls;
    const { text, version, now } = entry ?? {};
    // Where a store has forgotten the last token, the clock on the wall is very likely ahead of it.
    const queue =
      text === undefined
        ? { last: BigInt(Math.floor(clock.epoch?.() ?? systemClock.epoch())) * 1_000n, claims: [], out: [] }
        : queueDocumentOf(text, this.#key, store.name);
    this.#sightings.see(this.#key, queue.claims, clock.now());
    const sight = (): Sight =>
      now === undefined ? this.#sightings.by(this.#key, clock.now()) : new StoreTime(now, clock.now() - sent);
    return { queue, text, version, at: clock.now(), sight };
  }

  open({ queue, sight }: QueueState, seen = sight()): OpenQueue {
    const { clock, proof } = this.#calls;
    const longest = (proof?.kept ?? Number.POSITIVE_INFINITY) / 2;
    return new OpenQueue(queue, seen, { took: this.took, longest, random: clock.random() });
  }
}
