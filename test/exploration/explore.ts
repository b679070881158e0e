import { randomFrom } from '../../products/testing/random.ts';
import { createLocks } from '../../src/index.ts';
import { check } from '../simulation/checkers.ts';
import type { History } from '../simulation/history.ts';
import { checkMemo } from '../simulation/memo/checkers.ts';
import type { MemoHistory } from '../simulation/memo/history.ts';
import type { Choose } from './moves.ts';
import { type Cast, type Played, play } from './play.ts';
import type { Plot } from './plots.ts';
import { sample } from './sampling.ts';
import { Search } from './search.ts';

export interface Exploration extends Partial<Cast> {
  readonly plot: Plot;
  readonly faults: number;
  /** How often something else may happen than what happens where nothing is wrong. Default: as often as it can. */
  readonly turns?: number;
  /** What is wrong in a history of locks and in one of memos: a line for each. */
  readonly check?: (history: History, memos: MemoHistory) => string[];
  /** Told after each schedule; false ends it. */
  readonly goOn?: (schedules: number) => boolean;
}

export interface Explored {
  readonly schedules: number;
  /** Runs that were ended: others do the same in another order. */
  readonly pruned: number;
  /** Every schedule with so many faults was run. */
  readonly exhausted: boolean;
  readonly failure?: Failure;
}

export interface Failure {
  readonly found: readonly string[];
  /** As short as it was found; what follows is the first that may happen, each time. */
  readonly schedule: string;
}

/** The faults are the last that is needed of a schedule: so much longer is one that is drawn. */
const DEPTH = 4;

const firstOf: Choose = ([first]) => first;

/** Every schedule of a plot, with up to so many faults. */
export async function exploreAll(exploration: Exploration): Promise<Explored> {
  const search = new Search(exploration.turns);
  let schedules = 0;
  let pruned = 0;
  for (; !search.over; search.next()) {
    const played = await run(exploration, search.begin());
    if (!played.complete) {
      pruned++;
      continue;
    }
    schedules++;
    const failure = await failureOf(exploration, played);
    if (failure) return { schedules, pruned, exhausted: false, failure };
    if (exploration.goOn?.(schedules) === false) return { schedules, pruned, exhausted: false };
  }
  return { schedules, pruned, exhausted: true };
}

/** Schedules of a plot, drawn from seeds: for faults and processes of which there are too many orders to try. */
export async function exploreSome(exploration: Exploration, seeds: Iterable<number>): Promise<Explored> {
  const draw = await sampling(exploration, 2);
  let schedules = 0;
  for (const seed of seeds) {
    const played = await run(exploration, draw(randomFrom(seed)));
    schedules++;
    const failure = await failureOf(exploration, played);
    if (failure) return { schedules, pruned: 0, exhausted: false, failure };
    if (exploration.goOn?.(schedules) === false) break;
  }
  return { schedules, pruned: 0, exhausted: false };
}

/** What draws schedules of a plot: so many times as long as one in which nothing is wrong. */
export async function sampling(exploration: Exploration, longer: number): Promise<(random: () => number) => Choose> {
  const { schedule } = await run({ ...exploration, faults: 0 }, firstOf);
  return (random) => sample(random, schedule.length * longer, DEPTH, exploration.faults);
}

/**
 * A schedule again, from its text; after it, and where something in it cannot happen (any more), what happens where nothing is wrong.
 */
export function replay(exploration: Exploration, schedule: string): Promise<Played> {
  const texts = schedule === '' ? [] : schedule.split('; ');
  let step = 0;
  return run(exploration, (moves) => {
    const text = texts[step++];
    const move = moves.find((each) => each.text === text);
    if (!move) step = texts.length;
    return move ?? firstOf(moves.filter(({ fault }) => !fault));
  });
}

export const run = (
  { plot, faults, create = createLocks, join, serve, follow }: Exploration,
  choose: Choose,
): Promise<Played> => play(plot, { faults }, { create, join, serve, follow }, choose);

const checkBoth = (history: History, memos: MemoHistory): string[] => [...check(history), ...checkMemo(memos)];

export async function failureOf(
  exploration: Exploration,
  { history, memos, schedule }: Played,
): Promise<Failure | undefined> {
  const judge = exploration.check ?? checkBoth;
  const found = judge(history, memos);
  if (found.length === 0) return undefined;
  for (let length = 0; length < schedule.length; length++) {
    const shorter = schedule.slice(0, length).join('; ');
    const played = await replay(exploration, shorter);
    const again = judge(played.history, played.memos);
    if (again.length > 0) return { found: again, schedule: shorter };
  }
  return { found, schedule: schedule.join('; ') };
}
