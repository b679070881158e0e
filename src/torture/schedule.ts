import { randomFrom } from '../testing/random.ts';
import { settling } from './hand-overs.ts';
import { type FaultKind, LINK_FAULTS, PROCESS_FAULTS } from './history.ts';

/** One thing to do to one process, or to its connections. */
export interface Fault {
  /** ms since the start. */
  readonly at: number;
  readonly kind: FaultKind;
  /** Whose turn it is. */
  readonly by: number;
  /** ms that it lasts; of a kill and a cut, how long nobody comes back, or how long it may take to hit something. */
  readonly lasts: number;
  /** At least 0, below 1: what else there is to choose. */
  readonly choice: number;
}

export interface Course {
  /** ms */
  readonly duration: number;
  readonly processes: number;
  /** ms */
  readonly ttl: number;
  /** Whether there are connections to do something to. */
  readonly links: boolean;
  /** All by default. */
  readonly kinds?: readonly FaultKind[] | undefined;
}

/** ms of faults, and of judging in quiet, in turns. */
const STORM = 20_000;
const QUIET = 7_000;
/** ms between two faults. */
const [SOONEST, LATEST] = [80, 500];

/** The faults of a run, in their order: the same seed gives the same ones. */
export function* schedule(seed: number, course: Course): Generator<Fault> {
  const random = randomFrom(seed);
  const { duration, processes, ttl, links, kinds } = course;
  const deck = new Deck(kinds ?? [...PROCESS_FAULTS, ...(links ? [...PROCESS_FAULTS, ...LINK_FAULTS] : [])], random);
  for (const [start, end] of storms(duration, ttl)) {
    for (let at = start; at < end; at += between(SOONEST, LATEST, random())) {
      const kind = deck.draw();
      const by = Math.floor(random() * processes);
      const lasts = Math.min(lasting(kind, ttl, random()), Math.max(0, end - at));
      yield { at, kind, by, lasts, choice: random() };
    }
  }
}

/** Quiet first, so that it is seen how it goes where nothing is wrong; and after each storm, when its effects are over. */
export function storms(duration: number, ttl: number): [number, number][] {
  const spans: [number, number][] = [];
  const pause = settling(ttl) + QUIET;
  for (let at = Math.min(4_000, duration / 4); at < duration; at += STORM + pause)
    spans.push([at, Math.min(at + STORM, duration)]);
  return spans;
}

function lasting(kind: FaultKind, ttl: number, part: number): number {
  switch (kind) {
    case 'killed':
      return between(50, 500, part);
    case 'stopped':
    case 'stalled':
    case 'blocked':
    case 'starved':
      // Beyond the lease more often than not, and beyond a renewal nearly always.
      return between(ttl * 0.4, ttl * 2.2, part);
    case 'delayed':
    case 'dripped':
      return between(ttl * 0.3, ttl * 1.5, part);
    default:
      return 1_000;
  }
}

const between = (least: number, most: number, part: number): number => least + (most - least) * part;

/** Each card once before any comes again, in an order of chance. */
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
