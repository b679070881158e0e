import fc from 'fast-check';
import { expect, test } from 'vitest';
import { deadlineOf, passedFor, sentLater, validUntil } from '../../src/core/queue/hold-timing.ts';

const ms = fc.double({ min: 0, max: 1e7, noNaN: true });

test('the holder stops believing before the engine does, though its clock is slower by a hundredth', () => {
  fc.assert(
    fc.property(ms, ms, (sent, validFor) => {
      const believes = deadlineOf(sent, validFor) - sent;
      expect(believes / 0.99).toBeLessThan(validFor);
      expect(believes).toBeGreaterThan(validFor * 0.985 - 2.001);
    }),
  );
});

test('a lease told for a request that was sent later has the same deadline', () => {
  fc.assert(
    fc.property(ms, ms, ms, (sent, validFor, later) => {
      expect(deadlineOf(sent + later, sentLater(validFor, later))).toBeCloseTo(deadlineOf(sent, validFor), 4);
    }),
  );
});

test('of a time that passed here, a hundredth and 2 ms may not have passed on another machine, and never less than nothing has', () => {
  expect([0, 1, 2, 100, 1_000, -1_000].map(passedFor)).toEqual([0, 0, 0, 97, 988, 0]);
});

test('a lease that is asked for until a moment has its deadline then', () => {
  fc.assert(
    fc.property(ms, ms, (now, rest) => {
      expect(deadlineOf(now, validUntil(now + rest, now))).toBeCloseTo(now + rest, 4);
    }),
  );
});
