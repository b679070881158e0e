/** What the callers of a memo get, decided without acting: each fault that values crossing between calls have had is a row here. */
import { describe, expect, test } from 'vitest';
import { UNANSWERED } from '../../src/core/queue/pause.ts';
import { LockError, type LockErrorCode } from '../../src/index.ts';
import { afterFailure, afterGrant, aged, answered, isEnough, keptFor, maxAge } from '../../src/memo/decisions.ts';

const value = (age: number, validFor = 60_000, text = '1 kept plain - x') => ({ text, token: 7n, age, validFor });
const record = (found?: ReturnType<typeof value>, attempts = 0) => ({
  ...(found && { value: found }),
  ...{ attempts, mark: '-', begun: 0n },
});
const caller = (keep: number, began: number) => ({ plan: { keep }, began });

test('a value ages, until it is over', () => {
  expect(aged(value(5, 10), 0)).toEqual(value(5, 10));
  expect(aged(value(5, 10), 9)).toEqual(value(14, 1));
  expect(aged(value(5, 10), 10)).toBeUndefined();
});

test.each([
  ['kept for a minute', 60_000, 1_000, 9_000, Number.POSITIVE_INFINITY],
  ['kept for less: since it came, or as old as that', 59_999, 1_000, 1_000, 59_999],
  ['kept for nobody: since it came, less what two clocks may differ by', 0, 1_000, 9_000, expect.closeTo(7_900, -3)],
  ['kept for nobody, asked as it came', 0, 1_000, 1_000, 0],
])('the oldest result that a caller takes: %s', (_, keep, began, sent, age) => {
  expect(maxAge(caller(keep, began), sent)).toEqual(age);
});

test.each([
  ['it waited when the result came', caller(0, 0), 1_000, 10, true],
  ['it came after the attempt that found the result', caller(0, 1_001), 1_000, 0, false],
  ['it came in between, and the result is older than its call', caller(0, 900), 1_000, 500, false],
  ['it came later, and the result is kept', caller(60_000, 1_001), 1_000, 500, true],
  ['it came later, and the result is kept for less than its age', caller(100, 1_001), 1_000, 500, false],
  ['it waited, and the clock of the engine was set back', caller(0, 0), 1_000, -1, false],
])('who has a result: %s', (_, one, sent, age, has) => {
  expect(answered([one], value(age), sent)).toEqual(has ? [one] : []);
});

test.each([
  ['nothing', 100, record(), record()],
  ['a result that is kept as long as it stays', 60_000, record(value(70_000)), record(value(70_000))],
  ['a result within its time', 100, record(value(60)), record(value(60, 40))],
  ['a result that is over sooner', 100, record(value(60, 10)), record(value(60, 10))],
  ['a result past its time', 100, record(value(101), 3), record(undefined, 3)],
  [
    'an error, which has no age',
    100,
    record(value(0, 9, '1 failed plain - x')),
    record(value(0, 9, '1 failed plain - x')),
  ],
  [
    'a note of a result that could not be kept, past the time of the result',
    100,
    record(value(101, 9, '1 unkept plain - LOCK_TOO_LARGE x')),
    record(),
  ],
])('what a later caller finds: %s', (_, keep, looked, found) => {
  expect(keptFor(keep, looked)).toEqual(found);
});

test.each([
  ['nothing is there', record(), 1_000, 3, false],
  ['it is fresh', record(value(999)), 1_000, 3, true],
  ['it is due', record(value(1_000)), 1_000, 3, false],
  ['it is due, and may not be made again', record(value(1_000), 3), 1_000, 3, true],
])('whether a caller takes what it finds: %s', (_, looked, refresh, attempts, enough) => {
  expect(isEnough(looked, { refresh, attempts })).toBe(enough);
});

describe('a claim that failed', () => {
  const error = (code: LockErrorCode) => new LockError(code, code);
  test.each([
    [{ ended: UNANSWERED, code: 'LOCK_ABORTED', hasOld: false, hasWaited: false }, 'silence'],
    [{ ended: UNANSWERED, code: 'LOCK_ABORTED', hasOld: true, hasWaited: true }, 'silence'],
    [{ ended: 'not needed', code: 'LOCK_ABORTED', hasOld: true, hasWaited: true }, 'nothing'],
    [{ code: 'LOCK_UNAVAILABLE', hasOld: true, hasWaited: true }, 'old'],
    [{ code: 'LOCK_MISMATCH', hasOld: true, hasWaited: false }, 'old'],
    [{ code: 'LOCK_CLOSED', hasOld: true, hasWaited: false }, 'refuse all'],
    [{ code: 'LOCK_MISMATCH', hasOld: false, hasWaited: true }, 'refuse first'],
    [{ code: 'LOCK_UNAVAILABLE', hasOld: false, hasWaited: true }, 'silence'],
    [{ code: 'LOCK_UNAVAILABLE', hasOld: false, hasWaited: false }, 'refuse all'],
    [{ code: 'LOCK_DEADLOCK', hasOld: false, hasWaited: true }, 'refuse all'],
  ] as const)('%o: %s', ({ code, ...claim }, act) => {
    expect(afterFailure({ ended: undefined, ...claim, error: error(code) })).toBe(act);
  });

  test('what is no error of ours is for all', () => {
    const claim = { error: new TypeError(), ended: undefined, hasOld: false, hasWaited: true };
    expect(afterFailure(claim)).toBe('refuse all');
  });
});

test.each([
  ['nobody of its request is left', 1, undefined, false, 'release'],
  ['nobody is left, and an old result is there', 9, undefined, true, 'release'],
  ['it is the last attempt', 3, { attempts: 3 }, false, 'run'],
  ['it is one too many', 4, { attempts: 3 }, false, 'poison'],
  ['it is one too many, and an old result is there', 4, { attempts: 3 }, true, 'release'],
  ['attempts have no limit', 1_000_000, { attempts: Number.POSITIVE_INFINITY }, false, 'run'],
] as const)('a claim that holds the key: %s', (_, attempts, plan, hasOld, act) => {
  expect(afterGrant(attempts, plan, hasOld)).toBe(act);
});
