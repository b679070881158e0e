import { randomFrom } from '../../products/testing/random.ts';
import { Choice } from '../simulation/choice.ts';
import type { Event } from '../simulation/history.ts';
import { type Exploration, type Explored, failureOf, run, sampling } from './explore.ts';

/** Where schedules are to lead, in steps. */
export interface Guide {
  readonly steps: number;
  /** How many of them a run has made; undefined: it went astray, and is ended. */
  made(events: readonly Event[]): number | undefined;
}

/**
 * Schedules of a plot that make certain steps, drawn: each begins as one before did until it had made one step more, and goes on by
 * chance. Those that made them all count as schedules, and are checked; all others are pruned.
 * @param like a schedule that they may begin like
 */
export async function exploreTowards(
  exploration: Exploration,
  guide: Guide,
  seeds: Iterable<number>,
  like?: string,
): Promise<Explored> {
  const sample = await sampling(exploration, 1);
  /** By the number of steps that they made: how schedules began. */
  const ways: string[][][] = [like === undefined ? [[]] : [[], like.split('; ')]];
  let schedules = 0;
  let pruned = 0;
  for (const seed of seeds) {
    const random = randomFrom(seed);
    const choice = new Choice(random);
    const level = choice.whole(0, ways.length - 1);
    const way = choice.pick(ways[level]!);
    const draw = sample(random);
    const moves: string[] = [];
    let far = 0;
    const follow = (events: readonly Event[]): boolean => {
      const made = far < guide.steps ? guide.made(events) : far;
      if (made === undefined) return false;
      for (; far < made; far++) {
        if (far < level) continue; // known
        ways[far + 1] ??= [];
        ways[far + 1]!.push([...moves]);
      }
      return true;
    };
    const played = await run({ ...exploration, follow }, (possible) => {
      const move = possible.find(({ text }) => text === way[moves.length]) ?? draw(possible)!;
      moves.push(move.text);
      return move;
    });
    if (!played.complete || guide.made(played.history.events) !== guide.steps) {
      pruned++;
      continue;
    }
    schedules++;
    const failure = await failureOf(exploration, played);
    if (failure) return { schedules, pruned, exhausted: false, failure };
    if (exploration.goOn?.(schedules) === false) break;
  }
  return { schedules, pruned, exhausted: false };
}
