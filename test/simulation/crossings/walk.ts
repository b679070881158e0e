import type { createLocks } from '../../../src/locks.ts';
import type { Coverage } from './coverage.ts';
import { nameOf, PAIRS, type Pair, PLACES } from './features.ts';
import { type Crossing, SUBJECTS, simulateCrossing } from './simulate.ts';

const POSSIBLE = new Set(PAIRS.map(nameOf));
/** How often a pair that was missed is tried with another seed. */
const MOST = 40;

/** All places in which the two features of this pair can meet. */
const placesOf = (pair: Pair): string[] =>
  PLACES.map((place) => nameOf({ ...pair, place })).filter((name) => POSSIBLE.has(name));

/**
 * Schedules until every pair was drawn: one for each of them that those before did not draw, with another seed where it was missed. So
 * they are the same every time, and as few as that takes.
 * @param rounds how often every pair is gone through
 */
export async function* schedules(
  create: typeof createLocks,
  coverage: Coverage,
  rounds: number,
): AsyncGenerator<Crossing & { readonly seed: number }> {
  let seed = 0;
  for (let round = 1; round <= rounds; round++) {
    for (let attempts = 0; attempts < MOST; attempts++) {
      for (const subject of SUBJECTS) {
        seed++;
        if (placesOf(subject).every((name) => coverage.times(name) >= round)) continue;
        const crossing = await simulateCrossing(seed, create);
        coverage.add(subject.kind, crossing.history);
        yield { ...crossing, seed };
      }
    }
  }
}

/** What was drawn how often, line by line: of each primitive, on each kind of engine. */
export function* drawn(coverage: Coverage): Generator<string> {
  for (const [where, pairs] of Map.groupBy(PAIRS, ({ primitive, kind }) => `${primitive}, ${kind}`)) {
    const counted = pairs.map((pair) => ({ name: nameOf(pair), times: coverage.times(nameOf(pair)) }));
    const least = counted.reduce((a, b) => (b.times < a.times ? b : a));
    yield `${where}: ${counted.filter(({ times }) => times > 0).length} of ${pairs.length} pairs, the rarest ${least.times} times (${least.name})`;
  }
}

/** The pairs that can occur and were never drawn. */
export const missed = (coverage: Coverage): string[] => PAIRS.map(nameOf).filter((name) => coverage.times(name) === 0);
