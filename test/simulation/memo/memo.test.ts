import { expect, test } from 'vitest';
import { createLocks } from '../../../src/index.ts';
import { checkMemo, MEMO_CHECKERS } from './checkers.ts';
import { simulateMemo } from './simulate.ts';

/** A failing seed is run alone by `SIM_SEED=123 npx vitest run test/simulation/memo`; `SIM_SCHEDULES=100000` looks for longer. */
const ONE = process.env.SIM_SEED;
const SCHEDULES = Number(process.env.SIM_SCHEDULES ?? 1_500);
const FIRST = Number(ONE ?? 1);

test(`no schedule breaks a promise of memos: ${Object.keys(MEMO_CHECKERS).join(', ')}`, {
  timeout: Math.max(120_000, SCHEDULES * 200),
}, async () => {
  const seen = {
    runs: 0,
    answers: 0,
    failures: 0,
    deaths: 0,
    unknown: 0,
    forgets: 0,
    LOCK_POISONED: 0,
    LOCK_TIMEOUT: 0,
    LOCK_ABORTED: 0,
  };
  for (let seed = FIRST; seed < FIRST + (ONE ? 1 : SCHEDULES); seed++) {
    const history = await simulateMemo(seed, createLocks);
    const found = checkMemo(history);
    if (found.length > 0) {
      expect.fail(
        `${found.join('\n')}\nseed ${seed}, ${JSON.stringify(history.scene)}; again: SIM_SEED=${seed} npx vitest run test/simulation/memo`,
      );
    }
    for (const event of history.events) {
      if (event.what === 'begun') seen.runs++;
      else if (event.what === 'had' && !event.ran) seen.answers++;
      else if (event.what === 'had' && event.kept === 'unknown') seen.unknown++;
      else if (event.what === 'forgot') seen.forgets++;
      else if (event.what === 'done' && event.value === undefined) seen.failures++;
      else if (event.what === 'fault' && event.kind === 'crash of a holder') seen.deaths++;
      else if (event.what === 'missed' && event.error in seen) seen[event.error as 'LOCK_POISONED']++;
    }
  }
  // Each often enough, whatever the seeds.
  const least = ONE ? 0 : SCHEDULES / 100;
  for (const [what, times] of Object.entries(seen)) expect(times, what).toBeGreaterThanOrEqual(least);
});

test('a schedule of memos is the same every time', async () => {
  const [one, two] = [await simulateMemo(7, createLocks), await simulateMemo(7, createLocks)];
  expect(two).toEqual(one);
});
