import { expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { quorum } from '../../src/backends/quorum/index.ts';
import { createLocks } from '../../src/index.ts';
import { check } from './checkers.ts';
import { addSightings, nothingSeen } from './sightings.ts';
import { simulate } from './simulate.ts';

/** One that fails is run alone by `SIM_SEED=123 npx vitest run test/simulation/quorum.test.ts`; see simulation.test.ts. */
const ONE = process.env.SIM_SEED;
const SCHEDULES = Number(process.env.SIM_SCHEDULES ?? 240);
const FIRST = Number(ONE ?? 1);

test.each([3, 5])(
  'no schedule breaks a promise over %i nodes that hang, restart without their data, lose messages and answer late',
  async (nodes) => {
    const seen = nothingSeen();
    const faults = { hang: 0, restart: 0 };
    for (let seed = FIRST; seed < FIRST + (ONE ? 1 : SCHEDULES / nodes); seed++) {
      const history = await simulate(seed, createLocks, nodes);
      const found = check(history);
      if (found.length > 0) {
        expect.fail(
          `${found.join('\n')}\nseed ${seed}, ${nodes} nodes; again: SIM_SEED=${seed} npx vitest run test/simulation/quorum.test.ts`,
        );
      }
      addSightings(seen, history);
      for (const event of history.events)
        if (event.what === 'fault' && (event.kind === 'hang' || event.kind === 'restart')) faults[event.kind]++;
    }
    if (ONE) return;
    expect(faults.hang, 'hangs').toBeGreaterThan(20);
    expect(faults.restart, 'restarts').toBeGreaterThan(20);
    for (const what of ['holds', 'hand-offs', 'holds lost', 'replies lost', 'waits ended by their limit'] as const)
      expect(seen[what], what).toBeGreaterThanOrEqual(3);
  },
  Math.max(120_000, SCHEDULES * 400),
);

test('a quorum that is not told of restarts is found out: two hold one key', { timeout: 60_000 }, async () => {
  const untold: typeof quorum = (nodes, options) =>
    quorum(
      nodes.map((node) => around(node, { incarnation: undefined as never })),
      options,
    );
  const found: string[] = [];
  for (let seed = 3; seed <= 600 && found.length === 0; seed += 3)
    found.push(...check(await simulate(seed, createLocks, 3, untold)).filter((line) => line.startsWith('exclusion')));
  expect(found.length).toBeGreaterThan(0);
});
