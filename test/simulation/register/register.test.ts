import { describe, expect, test } from 'vitest';
import { createLocks } from '../../../src/index.ts';
import { temporaryFolder } from '../../kit/folder.ts';
import { plant } from '../../kit/planted.ts';
import { CHECKERS, check } from '../checkers.ts';
import { addSightings, nothingSeen } from '../sightings.ts';
import { REGISTER_MUTANTS } from './mutants.ts';
import { type RegisterHistory, simulateRegister } from './simulate.ts';

/** One that fails is run alone by `SIM_SEED=123 npx vitest run test/simulation/register`; see simulation.test.ts. */
const ONE = process.env.SIM_SEED;
const SCHEDULES = Number(process.env.SIM_SCHEDULES ?? 150);
const FIRST = Number(ONE ?? 1);
/** Schedules in which a planted bug must be found. */
const ENOUGH = 200;

test('no schedule breaks a promise over a register, whoever comes and goes, and no document tells of a longer watch than there was', {
  timeout: Math.max(120_000, SCHEDULES * 800),
}, async () => {
  const seen = nothingSeen();
  let sums = 0;
  for (let seed = FIRST; seed < FIRST + (ONE ? 1 : SCHEDULES); seed++) {
    const history = await simulateRegister(seed, createLocks);
    const found = [...check(history), ...history.wrong];
    if (found.length > 0) {
      expect.fail(
        `${found.join('\n')}\nseed ${seed}, ${JSON.stringify(history.scene)}; again: SIM_SEED=${seed} npx vitest run test/simulation/register`,
      );
    }
    addSightings(seen, history);
    sums += history.sums;
  }
  if (ONE) return;
  expect(sums, 'holds and places of the dead that were taken out by a sum of watches').toBeGreaterThan(SCHEDULES / 10);
  for (const what of [
    'holds',
    'holds lost',
    'crashes of a holder',
    'replies lost',
    'waits ended by their limit',
  ] as const)
    expect(seen[what], what).toBeGreaterThanOrEqual(3);
});

describe('the simulation finds a register that', () => {
  test.each(REGISTER_MUTANTS)('$bug', { timeout: 300_000 }, async (mutant) => {
    using folder = temporaryFolder();
    const { createLocks: create, register } = await plant(mutant.faults, folder.path);
    const { foundBy, from = 1 } = mutant;
    const finds = (history: RegisterHistory): readonly string[] =>
      foundBy === 'ages' ? history.wrong : CHECKERS[foundBy](history);
    for (let seed = from; seed < from + ENOUGH; seed++)
      if (finds(await simulateRegister(seed, create, register)).length > 0) return;
    expect.fail(`${foundBy} found nothing in ${ENOUGH} schedules`);
  });
});
