import { expect, test } from 'vitest';
import { createLocks } from '../../src/index.ts';
import { check } from './checkers.ts';
import { addSightings, nothingSeen } from './sightings.ts';
import { simulate } from './simulate.ts';

/** One that fails is run alone by `SIM_SEED=123 npx vitest run test/simulation/quorum.test.ts`; see simulation.test.ts. */
const ONE = process.env.SIM_SEED;
const SCHEDULES = Number(process.env.SIM_SCHEDULES ?? 240);
const FIRST = Number(ONE ?? 1);

test.each([3, 5])(
  'no schedule breaks a promise over %i nodes that hang, lose messages and answer late',
  async (nodes) => {
    const seen = nothingSeen();
    let hangs = 0;
    for (let seed = FIRST; seed < FIRST + (ONE ? 1 : SCHEDULES / nodes); seed++) {
      const history = await simulate(seed, createLocks, nodes);
      const found = check(history);
      if (found.length > 0) {
        expect.fail(
          `${found.join('\n')}\nseed ${seed}, ${nodes} nodes; again: SIM_SEED=${seed} npx vitest run test/simulation/quorum.test.ts`,
        );
      }
      addSightings(seen, history);
      hangs += history.events.filter((event) => event.what === 'fault' && event.kind === 'hang').length;
    }
    if (ONE) return;
    expect(hangs, 'hangs').toBeGreaterThan(20);
    for (const what of ['holds', 'hand-offs', 'holds lost', 'replies lost', 'waits ended by their limit'] as const)
      expect(seen[what], what).toBeGreaterThanOrEqual(3);
  },
  Math.max(120_000, SCHEDULES * 400),
);
