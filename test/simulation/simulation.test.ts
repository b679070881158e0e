import { expect, test } from 'vitest';
import { createLocks } from '../../src/index.ts';
import { CHECKERS, check } from './checkers.ts';
import { addSightings, nothingSeen } from './sightings.ts';
import { simulate } from './simulate.ts';

/**
 * The whole core, from seeds: a failing one is run alone by `SIM_SEED=123 npx vitest run test/simulation`, and
 * `SIM_SCHEDULES=100000` looks for longer than the ordinary tests do.
 */
const ONE = process.env.SIM_SEED;
const SCHEDULES = Number(process.env.SIM_SCHEDULES ?? 2_000);
const FIRST = Number(ONE ?? 1);

test(`no schedule breaks a promise: ${Object.keys(CHECKERS).join(', ')}`, {
  timeout: Math.max(120_000, SCHEDULES * 200),
}, async () => {
  const seen = nothingSeen();
  for (let seed = FIRST; seed < FIRST + (ONE ? 1 : SCHEDULES); seed++) {
    const history = await simulate(seed, createLocks);
    const found = check(history);
    if (found.length > 0) {
      expect.fail(
        `${found.join('\n')}\nseed ${seed}, ${JSON.stringify(history.scene)}; again: SIM_SEED=${seed} npx vitest run test/simulation`,
      );
    }
    addSightings(seen, history);
  }
  // Each often enough, whatever the seeds: the rarest is seen in one schedule of ten.
  const least = ONE ? 0 : SCHEDULES / 20;
  for (const [what, times] of Object.entries(seen)) expect(times, what).toBeGreaterThanOrEqual(least);
});

test('a schedule is the same every time', async () => {
  const [one, two, other] = [
    await simulate(7, createLocks),
    await simulate(7, createLocks),
    await simulate(8, createLocks),
  ];
  expect(two).toEqual(one);
  expect(other.events).not.toEqual(one.events);
});
