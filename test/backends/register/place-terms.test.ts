import { describe, expect, test } from 'vitest';
import { OpenQueue, placeTerms } from '../../../src/backends/register/open-queue.ts';
import { Sightings } from '../../../src/backends/register/sightings.ts';
import { claim } from './claim.ts';

const PACE = { took: 50, longest: Number.POSITIVE_INFINITY, random: 0 };
const NEAR = { usual: 15_000, ttl: 30_000, turns: 1 };

const ROWS: [
  what: string,
  claim: Partial<typeof NEAR>,
  pace: Partial<typeof PACE>,
  terms: ReturnType<typeof placeTerms>,
][] = [
  ['the next one lives as on all engines', {}, {}, { life: 15_000, renewAt: 11_250, rest: 0 }],
  ['so do the four that are near', { turns: 4 }, {}, { life: 15_000, renewAt: 11_250, rest: 0 }],
  ['one that is farther lives for 200 writes a turn', { turns: 6 }, {}, { life: 20_000, renewAt: 11_250, rest: 0 }],
  ['and rests once its life is long enough', { turns: 10 }, {}, { life: 60_000, renewAt: 20_000, rest: 900 }],
  ['deep in the queue it lives for two minutes', { turns: 60 }, {}, { life: 120_000, renewAt: 40_000, rest: 8_400 }],
  ['and rests for a third of its lease', { turns: 99 }, {}, { life: 120_000, renewAt: 40_000, rest: 10_000 }],
  [
    'a short lease, too, as it may be admitted meanwhile',
    { turns: 40, usual: 5_000, ttl: 5_000 },
    {},
    { life: 120_000, renewAt: 40_000, rest: 5_000 / 3 },
  ],
  ['those who came together part', { turns: 99 }, { random: 0.5 }, { life: 96_000, renewAt: 40_000, rest: 10_000 }],
  ['in a store that is quick nothing changes', { turns: 30 }, { took: 1 }, { life: 15_000, renewAt: 11_250, rest: 0 }],
  [
    'a store that keeps less has no place for longer',
    { turns: 99 },
    { longest: 30_000 },
    { life: 30_000, renewAt: 11_250, rest: 0 },
  ],
];

describe('the terms of a place', () => {
  test.each(ROWS)('%s', (_, claim, pace, terms) => {
    expect(placeTerms({ ...NEAR, ...claim }, { ...PACE, ...pace })).toEqual(terms);
  });

  test('a sign of life that is due has two more tries before the place expires', () => {
    for (let turns = 1; turns <= 200; turns++) {
      for (const took of [1, 20, 50, 200, 1_000]) {
        for (const usual of [1_000, 5_000, 15_000]) {
          const { renewAt, rest } = placeTerms({ usual, ttl: 2 * usual, turns }, { ...PACE, took });
          expect(renewAt, `${turns} turns, ${took} ms`).toBeGreaterThanOrEqual(2 * (usual / 3 + rest));
        }
      }
    }
  });
});

test('a permit behind one claim that takes all of the key is the next one, and asks: both kinds are in one queue', () => {
  const queue = new OpenQueue({ last: 0n, claims: [], out: [] }, new Sightings().by('k', 0, 1_000), {
    ...PACE,
    took: 500,
  });
  const permit = claim('permit', { units: 2, capacity: 3, queue: true });
  expect(queue.attempt(claim('writer')).granted).toBe(true);
  expect(queue.attempt(permit)).toMatchObject({ granted: false, ahead: 1 });
  expect(queue.putOff(permit, 0), 'an answer without a request').toBeUndefined();
});
