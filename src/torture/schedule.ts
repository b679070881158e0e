import { randomFrom } from '../testing/random.ts';
import { type FaultKind, LINK_FAULTS, PROCESS_FAULTS } from './events.ts';
import { settleTime } from './hand-overs.ts';

/** One fault of one process, or of its connections. */
export interface Fault {
  /** ms since the start. */
  readonly at: number;
  readonly kind: FaultKind;
  /** The number of the process. */
  readonly by: number;
  /** How long the fault lasts, ms. After a kill this is the time until the restart. A cut may take this long to hit something. */
  readonly lasts: number;
  /** At least 0, below 1: decides the details of the fault. */
  readonly choice: number;
}

export interface ScheduleOptions {
  /** ms */
  readonly duration: number;
  readonly processes: number;
  /** ms */
  readonly ttl: number;
  /** Whether there are connections. */
  readonly links: boolean;
  /** All by default. */
  readonly kinds?: readonly FaultKind[] | undefined;
}

/** Faults and quiet judging take turns; ms of each. */
const STORM = 20_000;
const QUIET = 7_000;
/** Time between two faults, ms. */
const [SOONEST, LATEST] = [80, 500];

/** The faults of a run, in their order. The same seed gives the same faults. */
export function* schedule(seed: number, options: ScheduleOptions): Generator<Fault> {
  const random = randomFrom(seed);
  const { duration, processes, ttl, links, kinds } = options;
  const deck = new Deck(kinds ?? [...PROCESS_FAULTS, ...(links ? [...PROCESS_FAULTS, ...LINK_FAULTS] : [])], random);
  for (const [start, end] of storms(duration, ttl)) {
    for (let at = start; at < end; at += between(SOONEST, LATEST, random())) {
      const kind = deck.draw();
      const by = Math.floor(random() * processes);
      const lasts = Math.min(durationOf(kind, ttl, random()), Math.max(0, end - at));
      yield { at, kind, by, lasts, choice: random() };
    }
  }
}

/**
 * The times with faults. The run begins without faults, to see how it goes then, and each storm is followed by quiet until its
 * effects are over.
 */
export function storms(duration: number, ttl: number): [number, number][] {
  const spans: [number, number][] = [];
  const pause = settleTime(ttl) + QUIET;
  for (let at = Math.min(4_000, duration / 4); at < duration; at += STORM + pause)
    spans.push([at, Math.min(at + STORM, duration)]);
  return spans;
}

function durationOf(kind: FaultKind, ttl: number, part: number): number {
  switch (kind) {
    case 'killed':
      return between(50, 500, part);
    case 'stopped':
    case 'stalled':
    case 'blocked':
    case 'starved':
      // Mostly longer than the lease, and nearly always longer than the time to a renewal.
      return between(ttl * 0.4, ttl * 2.2, part);
    case 'delayed':
    case 'dripped':
      return between(ttl * 0.3, ttl * 1.5, part);
    default:
      return 1_000;
  }
}

const between = (least: number, most: number, part: number): number => least + (most - least) * part;

/** Draws each card once before any comes again, in random order. */
class Deck<T> {
  readonly #cards: readonly T[];
  readonly #random: () => number;
  #left: T[] = [];

  constructor(cards: readonly T[], random: () => number) {
    this.#cards = cards;
    this.#random = random;
  }

  draw(): T {
    if (this.#left.length === 0) this.#left = [...this.#cards];
    return this.#left.splice(Math.floor(this.#random() * this.#left.length), 1)[0]!;
  }
}
