import { expect, test } from 'vitest';
import { added, longer, sourcesIn, spanned } from './sums.ts';

test.each([
  [
    '1,200 locks taken, 3 faults that hit; 2 minutes',
    '800 locks taken, 4 faults that hit; 3 minutes',
    '2,000 locks taken, 7 faults that hit; 5 minutes',
  ],
  ['12.5 s', '0.5 s', '13.0 s'],
  ['3 of 4', '1 of 1', '4 of 5'],
  ['999', '1', '1000'],
  ['kept 2', 'kept 1, broken 1', 'kept 3, broken 1'],
  ['killed, back with its data 2', 'killed, back with its data 3', 'killed, back with its data 5'],
  ['cut before the reply 2, killed 1', 'killed 4', 'cut before the reply 2, killed 5'],
  ['-', 'exclusion 2', 'exclusion 2'],
  ['nothing', 'nothing', 'nothing'],
  ['nats: residue 1', 'nothing', 'nats: residue 1'],
  ['nats: residue 1', 's3: tokens 2', 'nats: residue 1; s3: tokens 2'],
  ['possible', 'unknown, possible', 'possible; unknown, possible'],
])('%s and %s are %s', (before, now, both) => expect(added(before, now)).toBe(both));

test('of two waits the longer one stays', () => {
  expect(longer('9.5 s', '12.0 s')).toBe('12.0 s');
  expect(longer('12.0 s', '9.5 s')).toBe('12.0 s');
});

test('days go from the first to the last, and the sources are those of now', () => {
  expect(spanned('2026-01-02, abc', '2026-01-02, abc')).toBe('2026-01-02, abc');
  expect(spanned('2026-01-02, abc', '2026-01-05, abc')).toBe('2026-01-02 to 2026-01-05, abc');
  expect(spanned('2026-01-02 to 2026-01-03, abc', '2026-01-05, abc')).toBe('2026-01-02 to 2026-01-05, abc');
  expect(sourcesIn('2026-01-02 to 2026-01-03, abc')).toBe('abc');
});
