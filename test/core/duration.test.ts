import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Duration, inWords, MAX_DURATION_MS, milliseconds, waitIn } from '../../src/core/contract/duration.ts';
import { isLockError, shown } from '../../src/core/contract/errors.ts';

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const attempt = (value: unknown): unknown => {
  try {
    return milliseconds(value as number, 'wait');
  } catch (error) {
    return error;
  }
};

describe('milliseconds', () => {
  test.each([
    ['250ms', 250],
    ['30s', 30_000],
    ['1.5m', 90_000],
    ['2h', 7_200_000],
    ['1d', 86_400_000],
    [' 5 s ', 5_000],
    ['0ms', 0],
    [0, 0],
    [12.5, 12.5],
  ])('reads %j as %d ms', (text, ms) => {
    expect(milliseconds(text as Duration, 'wait')).toBe(ms);
  });

  test('text that is surely no duration does not compile', () => {
    const wrong: Duration[] = [
      // @ts-expect-error a word
      'soon',
      // @ts-expect-error no unit
      '30',
      // @ts-expect-error no unit of ours
      '3 weeks',
    ];
    const right: Duration[] = [250, '250ms', '1.5 s', '5m', '2h', '1d'];
    for (const each of wrong) expect(attempt(each)).toMatchObject({ code: 'LOCK_INVALID' });
    for (const each of right) expect(attempt(each)).toBeTypeOf('number');
  });

  test('reads every amount of every unit', () => {
    fc.assert(
      fc.property(
        fc.nat({ max: 365 }),
        fc.constantFrom(...(Object.keys(UNITS) as (keyof typeof UNITS)[])),
        (n, unit) => {
          expect(milliseconds(`${n}${unit}`, 'wait')).toBe(n * UNITS[unit]);
        },
      ),
    );
  });

  test('takes a year, and nothing longer', () => {
    expect(milliseconds('365d', 'wait')).toBe(365 * UNITS.d);
    expect(attempt('365.1d')).toMatchObject({ code: 'LOCK_INVALID' });
  });

  test('refuses what is no duration, naming the option', () => {
    const wrong: unknown[] = [
      Number.NaN,
      Number.POSITIVE_INFINITY,
      Number.NEGATIVE_INFINITY,
      -1,
      MAX_DURATION_MS + 1,
      '',
      's',
      '5',
      '-5s',
      '5 seconds',
      '5S',
      '1e3ms',
      '0x10ms',
      '٣s',
      '5s\0',
      null,
      undefined,
      true,
      5n,
      {},
      [5],
      { valueOf: () => 5 },
    ];
    for (const value of wrong) {
      const error = attempt(value);
      expect(isLockError(error, 'LOCK_INVALID'), shown(value)).toBe(true);
      expect((error as Error).message).toMatch(/^wait is /);
    }
  });

  test('whatever it is given, answers with ms inside the bounds or LOCK_INVALID', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.anything(), fc.double(), fc.string(), fc.stringMatching(/^\d+(\.\d+)? ?[a-z]{0,2}$/)),
        (value) => {
          const answer = attempt(value);
          if (typeof answer === 'number') expect(answer >= 0 && answer <= MAX_DURATION_MS).toBe(true);
          else expect(isLockError(answer, 'LOCK_INVALID')).toBe(true);
        },
      ),
    );
  });

  test('says the bound that was broken', () => {
    expect(() => milliseconds(5, 'ttl', { min: 10, max: 20 })).toThrow('ttl is 5; it must be from 10 ms to 20 ms');
    expect(() => milliseconds('1m', 'ttl', { min: 10, max: 20 })).toThrow(
      'ttl is "1m"; it must be from 10 ms to 20 ms',
    );
  });

  test.each([
    [0, '0 ms'],
    [999, '999 ms'],
    [1_000, '1 s'],
    [1_500, '1500 ms'],
    [60_000, '1 min'],
    [90_000, '90 s'],
    [3_600_000, '1 h'],
    [86_400_000, '1 day'],
    [172_800_000, '2 days'],
    [MAX_DURATION_MS, '1 year'],
    [2 * MAX_DURATION_MS, '2 years'],
    [0.5, '0.5 ms'],
  ])('%s ms are said as %s: no figure is rounded', (ms, words) => {
    expect(inWords(ms)).toBe(words);
  });
});

test('what to do for a longer duration is said where it is too long, and only there', () => {
  const advice = 'give less';
  const said = (value: number, more: object): string => {
    try {
      return `${milliseconds(value, 'ttl', { min: 10, max: 20, ...more })}`;
    } catch (error) {
      return (error as Error).message;
    }
  };
  expect(said(21, { advice })).toBe('ttl is 21; it must be from 10 ms to 20 ms; give less');
  expect(said(21, {})).toBe('ttl is 21; it must be from 10 ms to 20 ms');
  expect(said(9, { advice })).toBe('ttl is 9; it must be from 10 ms to 20 ms');
  expect(
    [10, 20].map((value) => said(value, { advice })),
    'the bounds themselves',
  ).toEqual(['10', '20']);
});

test('a wait that is no duration is named as such, or as its caller calls it', () => {
  expect(() => waitIn(-1)).toThrow(/^wait is -1; /);
  expect(() => waitIn(-1, 'patience')).toThrow(/^patience is -1; /);
  expect([waitIn(0), waitIn('forever')]).toEqual([0, Infinity]);
});
