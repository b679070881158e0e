import { randomFrom } from '../testing/random.ts';
import { type FaultKind, LINK_FAULTS, NETWORK_FAULTS, PROCESS_FAULTS } from './events.ts';
import { settleTime } from './hand-overs.ts';

/** One fault of one process, or of its connections. */
export interface Fault {
  /** ms since the start. */
  readonly at: number;
  readonly kind: FaultKind;
  /** The numbers of the processes that it may hit. It hits the first of them that has no other fault. */
  readonly candidates: readonly number[];
  /** How long the fault lasts, ms. Of a kill: the time until the restart. Of a cut: how long it may wait for bytes to hit. */
  readonly lasts: number;
  /** A number from 0 to below 1, which decides the details of the fault. */
  readonly choice: number;
}

export interface ScheduleOptions {
  /** How long the run lasts, ms. */
  readonly duration: number;
  readonly processes: number;
  /** The ttl of holds, ms. */
  readonly ttl: number;
  /** What is between the processes and the engine: nothing, proxies, or a network of hosts. */
  readonly between: 'nothing' | 'links' | 'network';
  /** Default: all that `between` allows. */
  readonly kinds?: readonly FaultKind[] | undefined;
}

/** Times with and without faults take turns. */
const STORM_MS = 40_000;
const QUIET_MS = 7_000;
/** The longest time without faults at the beginning of the run. */
const MAX_CALM_MS = 4_000;
/** The time between two faults with up to four processes. More processes get more faults, so that each process is hit as often. */
const [MIN_GAP_MS, MAX_GAP_MS] = [80, 500];
const USUAL_PROCESSES = 4;
/**
 * From this many processes on, one half has no faults for `REST_MS`, then the other half. Otherwise faults would block nearly all
 * keys nearly all the time, and there would be few holds. Pairs of processes share keys, so both processes of a pair rest together.
 */
const MIN_PROCESSES_TO_REST = 8;
const REST_MS = 10_000;

const DECKS = {
  nothing: PROCESS_FAULTS,
  links: [...PROCESS_FAULTS, ...PROCESS_FAULTS, ...LINK_FAULTS],
  network: [...PROCESS_FAULTS, ...NETWORK_FAULTS, ...NETWORK_FAULTS],
} as const satisfies Record<ScheduleOptions['between'], readonly FaultKind[]>;

/** The faults of a run, in their order. The same seed gives the same faults. */
export function* schedule(seed: number, options: ScheduleOptions): Generator<Fault> {
  const random = randomFrom(seed);
  const { duration, processes, ttl, between: what, kinds } = options;
  const deck = draws(kinds ?? DECKS[what], random);
  const often = Math.max(1, processes / USUAL_PROCESSES);
  for (const [start, end] of storms(duration, ttl)) {
    for (let at = start; at < end; at += between(MIN_GAP_MS, MAX_GAP_MS, random()) / often) {
      const kind = deck.next().value;
      const candidates = candidatesAt(at, processes, random());
      const lasts = Math.min(durationOf(kind, ttl, random()), Math.max(0, end - at));
      yield { at, kind, candidates, lasts, choice: random() };
    }
  }
}

function candidatesAt(at: number, processes: number, part: number): number[] {
  const resting = processes < MIN_PROCESSES_TO_REST ? undefined : Math.floor(at / REST_MS) % 2;
  const first = Math.floor(part * processes);
  const all = Array.from({ length: processes }, (_, turn) => (first + turn) % processes);
  return all.filter((by) => Math.floor(by / 2) % 2 !== resting);
}

/** The times with faults. Each storm is followed by quiet until its effects are over. */
function* storms(duration: number, ttl: number): Generator<[start: number, end: number]> {
  const pause = settleTime(ttl) + QUIET_MS;
  for (let at = Math.min(MAX_CALM_MS, duration / 4); at < duration; at += STORM_MS + pause)
    yield [at, Math.min(at + STORM_MS, duration)];
}

/** How long a fault lasts, in ttls: mostly longer than a lease, and nearly always longer than the time to a renewal. */
const LONG = [0.4, 2.2] as const;
const SLOW = [0.3, 1.5] as const;
const [MIN_DEAD_MS, MAX_DEAD_MS] = [50, 500];
const MAX_CUT_MS = 1_000;

function durationOf(kind: FaultKind, ttl: number, part: number): number {
  if (kind === 'killed') return between(MIN_DEAD_MS, MAX_DEAD_MS, part);
  const [least, most] = kind === 'delayed' || kind === 'dripped' ? SLOW : LONG;
  return isCut(kind) ? MAX_CUT_MS : between(ttl * least, ttl * most, part);
}

const isCut = (kind: FaultKind): boolean => kind === 'halved' || (kind.startsWith('cut') && kind !== 'cut one way');

const between = (least: number, most: number, part: number): number => least + (most - least) * part;

/** Draws all cards in random order, and begins again when none is left. */
function* draws<T>(cards: readonly T[], random: () => number): Generator<T, never> {
  for (;;) {
    const left = [...cards];
    while (left.length > 0) yield left.splice(Math.floor(random() * left.length), 1)[0]!;
  }
}
