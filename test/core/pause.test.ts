import { describe, expect, test } from 'vitest';
import { type Attempt, PLACE_TTL_MS, type Refusal, type Traits } from '../../src/core/contract/backend.ts';
import { placeTtlFor, waiterMargin } from '../../src/core/contract/terms.ts';
import { backOff, pauseAfter } from '../../src/core/queue/pause.ts';

const SPIN = { pause: 10, bound: 400, jitter: 0.5 };
/** Its place needs a sign of life every 2 s. */
const CLAIM = { ttl: 30_000, queue: true, placeTtl: 6_000 };
const refused = (more: Partial<Refusal> = {}): Attempt => ({ granted: false, ...more }) as Refusal;
const beside = (more: Partial<Refusal>, random = 0): number =>
  pauseAfter(refused(more), 'watch', CLAIM, SPIN, 9, random);

describe('a waiter that is told when its turn has come', () => {
  test('asks when the earliest expiry ahead is due', () => {
    expect(beside({ ahead: 1, retryAfter: 500 })).toBe(500);
    expect(beside({ retryAfter: 500 }), 'next, where the engine does not say').toBe(500);
    expect(beside({ ahead: 0, retryAfter: 500 })).toBe(500);
  });

  test('asks after those ahead of it, so that what the first finds wakes the others', () => {
    expect([1, 2, 3].map((ahead) => beside({ ahead, retryAfter: 500 }))).toEqual([500, 505, 510]);
  });

  test('asks at least three times in the life of its place, whatever is told', () => {
    expect(beside({ ahead: 1, retryAfter: 5_000 })).toBe(CLAIM.placeTtl / 3);
    expect(beside({ ahead: 1 })).toBe(CLAIM.placeTtl / 3);
    expect(beside({ ahead: 900, retryAfter: 500 })).toBe(CLAIM.placeTtl / 3);
  });

  test('asks every two seconds at least where its claim asks for nothing else', () => {
    expect(pauseAfter(refused(), 'watch', { ttl: 30_000, queue: true }, SPIN, 9, 0)).toBe(2_000);
  });

  test('never asks at once again, and not in step with others', () => {
    expect(beside({ ahead: 1, retryAfter: 0 })).toBe(1);
    expect(beside({ ahead: 1, retryAfter: 500 }, 0.5)).toBe(502.5);
  });
});

describe('a waiter that nobody tells', () => {
  const polled = (answer: Attempt | undefined, claim = CLAIM, spin = SPIN, tries = 0): number =>
    pauseAfter(answer, 'never', claim, spin, tries, 0);

  test('asks after its own pause, or sooner where the engine says that it is worth it', () => {
    expect(polled(refused({ ahead: 1 }))).toBe(10);
    expect(polled(refused({ ahead: 1, retryAfter: 3 }))).toBe(3);
    expect(polled(refused({ ahead: 1, retryAfter: 500 }))).toBe(10);
  });

  test('keeps its place alive, if it has one', () => {
    const slow = { ...SPIN, pause: 10_000, bound: 10_000 };
    expect(polled(refused(), CLAIM, slow)).toBe(2_000);
    expect(polled(refused(), { ...CLAIM, queue: false }, slow)).toBe(10_000);
  });

  test('is one that got no answer, too, or one that was granted what it could not take', () => {
    expect(pauseAfter(undefined, 'watch', CLAIM, SPIN, 1, 0)).toBe(20);
    const granted: Attempt = { granted: true, token: 1n, tokenCount: 1, validFor: 5 };
    expect(pauseAfter(granted, 'watch', CLAIM, SPIN, 1, 0)).toBe(20);
  });
});

test('a pause doubles with each try up to its bound, and as much of it as jitter says is drawn', () => {
  expect([0, 1, 2, 3, 5, 6, 5_000].map((tries) => backOff(SPIN, tries, 0))).toEqual([10, 20, 40, 80, 320, 400, 400]);
  expect([0, 0.5, 1].map((random) => backOff(SPIN, 3, random))).toEqual([80, 60, 40]);
  expect(backOff({ ...SPIN, pause: 0 }, 5_000, 0), 'a pause of nothing stays one').toBe(0);
});

test('a place lives for three of the longest pauses where that is longer than all live, and as the engine allows', () => {
  const wanted = (bound: number, placeTtl?: number): number | undefined =>
    placeTtlFor({ ...SPIN, bound }, { placeTtl } as Traits);
  expect(wanted(3_000, 24_000)).toBe(9_000);
  expect(wanted(10_000, 24_000)).toBe(24_000);
  expect(wanted(PLACE_TTL_MS / 3, 24_000)).toBeUndefined();
  expect(wanted(10_000)).toBeUndefined();
});

test('a claim that waits lasts longer than its lease by a sign of life that is late by a quarter and 25 ms, in whole ms', () => {
  expect(waiterMargin(CLAIM)).toBe(2_525);
  expect(waiterMargin({ ttl: 300, placeTtl: 6_000 }), 'of a lease shorter than a place').toBe(150);
  expect(waiterMargin({ ttl: 30_000, placeTtl: 6_001 })).toBe(2_526);
});

test('a pause doubles sixteen times at most, however long its bound', () => {
  expect([15, 16, 17, 5_000].map((tries) => backOff({ pause: 1, bound: 1e9, jitter: 0 }, tries, 0))).toEqual([
    32_768, 65_536, 65_536, 65_536,
  ]);
});
