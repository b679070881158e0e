import { expect, test } from 'vitest';
import { createLocks } from '../../../src/index.ts';
import { CROSSING_CHECKERS, checkCrossing } from './checkers.ts';
import { Coverage } from './coverage.ts';
import { EXCLUDED, nameOf } from './features.ts';
import { SUBJECTS, simulateCrossing } from './simulate.ts';
import { drawn, missed, schedules } from './walk.ts';

/**
 * Two options, or what befalls a request, with every primitive on every kind of engine. A failing seed is run alone by
 * `SIM_SEED=123 npx vitest run test/simulation/crossings`; `SIM_SCHEDULES=100000` goes through all pairs more often.
 */
const ONE = process.env.SIM_SEED;
const ROUNDS = Math.max(1, Math.floor(Number(process.env.SIM_SCHEDULES ?? 0) / SUBJECTS.length));

async function* crossings(coverage: Coverage) {
  if (ONE) yield { ...(await simulateCrossing(Number(ONE), createLocks)), seed: Number(ONE) };
  else yield* schedules(createLocks, coverage, ROUNDS);
}

test(`no two options break a promise where they meet: ${Object.keys(CROSSING_CHECKERS).join(', ')}`, {
  timeout: ROUNDS * 240_000,
}, async () => {
  const coverage = new Coverage();
  let count = 0;
  for await (const { seed, subject, history } of crossings(coverage)) {
    count++;
    const found = checkCrossing(history);
    if (found.length > 0) {
      expect.fail(
        `${found.join('\n')}\nseed ${seed}, ${nameOf(subject)}, ${JSON.stringify(history.scene)}; again: SIM_SEED=${seed} npx vitest run test/simulation/crossings`,
      );
    }
  }
  if (ONE) return;
  console.log([`${count} schedules`, ...drawn(coverage), 'Never:', ...EXCLUDED].join('\n  '));
  expect(missed(coverage), 'pairs that can occur, and were never drawn').toEqual([]);
});

test('a schedule of two options is the same every time', async () => {
  const [one, two] = [await simulateCrossing(7, createLocks), await simulateCrossing(7, createLocks)];
  expect(two).toEqual(one);
});
