/** When a process asks to be next at a key, reads the note, and renews its own. */
import { expect, test } from 'vitest';
import {
  type KeyUse,
  lifeOf,
  mayAsk,
  mayRest,
  patienceOf,
  waitsLong,
} from '../../../src/backends/quorum/turn-taking.ts';

const use = (known: Partial<KeyUse>): KeyUse => ({
  ...{ waitsSince: undefined, refusedAt: 0, releasedAt: 0, contended: false, readAt: 0, reading: undefined },
  ...{ hintSince: undefined, hintAt: 0, next: undefined, ...known },
});
const other = { id: 'other', waited: 30, writtenAt: 0 };

test('a process asks to be next after 20 ms, or after sixteen round trips where these take longer', () => {
  expect([0, 1, 1.25, 2, 100].map(patienceOf)).toEqual([20, 20, 20, 32, 1_600]);
});

test('a note lasts a quarter of a second, four round trips, and a twentieth of the wait, of that five seconds at most', () => {
  expect(lifeOf(0, 0)).toBe(250);
  expect(lifeOf(0, 10)).toBe(290);
  expect(lifeOf(1_000, 10)).toBe(340);
  expect(lifeOf(100_000, 0)).toBe(5_250);
  expect(lifeOf(900_000, 0)).toBe(5_250);
});

test.each<[string, Partial<KeyUse>, number, boolean]>([
  ['has not been refused', {}, 5_000, true],
  ['has waited for less than its patience', { waitsSince: 1_000 }, 1_031, true],
  ['has waited for its patience', { waitsSince: 1_000 }, 1_032, false],
  ['knows that another one is next', { next: other }, 10, false],
  ['is next, and read the note a moment ago', { waitsSince: 0, hintSince: 40, hintAt: 40, readAt: 40 }, 64, true],
  ['is next, and read the note 25 ms ago', { waitsSince: 0, hintSince: 40, hintAt: 40, readAt: 40 }, 65, false],
  ['had waited for almost a second', { waitsSince: 0, hintSince: 40, hintAt: 999, readAt: 1_000 }, 1_025, false],
  ['had waited for a second', { waitsSince: 0, hintSince: 40, hintAt: 1_000, readAt: 1_000 }, 1_024, true],
  ['had waited for a second, 25 ms ago', { waitsSince: 0, hintSince: 40, hintAt: 1_000, readAt: 1_000 }, 1_025, false],
  ['has a note that lasts for 5,258 ms', { waitsSince: 0, hintSince: 40, hintAt: 1e5, readAt: 1e5 }, 104_457, true],
  [
    'has such a note, and 800 ms of it are left',
    { waitsSince: 0, hintSince: 40, hintAt: 1e5, readAt: 1e5 },
    104_458,
    false,
  ],
  [
    'has waited for ten seconds, and has read',
    { waitsSince: 9e4, hintSince: 9e4, hintAt: 1e5, readAt: 1e5 },
    100_030,
    false,
  ],
  ['is next, and does not know that it waits, just now', { hintSince: 40, hintAt: 1e5, readAt: 1e5 }, 100_024, true],
  ['is next, and does not know that it waits', { hintSince: 40, hintAt: 1e5, readAt: 1e5 }, 100_025, false],
])('without a look at the note, a process may ask or not: one that %s', (_, known, now, may) => {
  expect(mayAsk(use(known), now, 2)).toBe(may);
});

test('slow nodes let the next one look less often once it has waited for a second', () => {
  const next = (hintAt: number): KeyUse => use({ waitsSince: 0, hintSince: 1, hintAt, readAt: hintAt });
  expect([mayAsk(next(999), 999 + 25, 200), mayAsk(next(1_000), 1_000 + 299, 200)]).toEqual([false, true]);
});

test.each<[string, Partial<KeyUse>, number, boolean]>([
  ['for whom nobody is next', { waitsSince: 0, readAt: 20_000 }, 20_001, false],
  ['who does not know that it waits', { next: other, readAt: 20_000 }, 20_001, false],
  ['who has waited for less than a second', { next: other, waitsSince: 0, readAt: 999 }, 999, false],
  ['who has waited for a second, and looked just now', { next: other, waitsSince: 0, readAt: 1_000 }, 1_000, true],
  ['who looked less than a twentieth of its wait ago', { next: other, waitsSince: 0, readAt: 9_501 }, 10_000, true],
  ['who looked a twentieth of its wait ago', { next: other, waitsSince: 0, readAt: 9_500 }, 10_000, false],
  ['who waits for 10 s, and looked then', { next: other, waitsSince: 5e4, readAt: 59_500 }, 60_000, false],
  ['who looked less than two seconds ago', { next: other, waitsSince: 0, readAt: 98_001 }, 100_000, true],
  ['who looked two seconds ago', { next: other, waitsSince: 0, readAt: 98_000 }, 100_000, false],
])('whether a process behind the next one may rest: %s', (_, known, now, may) => {
  expect(mayRest(use(known), now)).toBe(may);
});

test('a wait is long after a second', () => {
  expect([use({}), use({ waitsSince: 1 }), use({ waitsSince: 0 })].map((each) => waitsLong(each, 1_000))).toEqual([
    ...[false, false, true],
  ]);
});
