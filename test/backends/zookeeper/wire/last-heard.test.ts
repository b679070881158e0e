import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  BEAT_PART,
  LastHeard,
  REPORT_PART,
  SCARCE_PART,
  SURE_PART,
} from '../../../../src/backends/zookeeper/wire/connection.ts';

const TIMEOUT = 1_200;

interface Step {
  /** From the sending of the last request. */
  readonly gap: number;
  /** To the follower, and back. */
  readonly there: number;
  readonly back: number;
}

const short = fc.integer({ min: 0, max: 30 });
const step: fc.Arbitrary<Step> = fc.record({
  gap: fc.oneof({ weight: 6, arbitrary: fc.integer({ min: 1, max: 120 }) }, fc.integer({ min: 1, max: 2 * TIMEOUT })),
  there: fc.oneof({ weight: 6, arbitrary: short }, fc.integer({ min: 0, max: 400 })),
  back: fc.oneof({ weight: 6, arbitrary: short }, fc.integer({ min: 0, max: 400 })),
});

/** When the leader has heard last, of a follower that ends right after `end`: with each report of what had come since the last one. */
function heardByLeader(opened: number, touches: readonly number[], reports: readonly number[], end: number): number {
  let heard = opened;
  for (const [index, at] of reports.entries()) {
    const since = reports[index - 1] ?? opened;
    if (at <= end && touches.some((touch) => touch > since && touch <= at)) heard = at;
  }
  return heard;
}

test('whenever a follower ends, the leader has heard of the session since what is taken for certain', () => {
  const reportGaps = fc.array(fc.integer({ min: 1, max: TIMEOUT * REPORT_PART }), { minLength: 200, maxLength: 200 });
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 40 }), reportGaps, (steps, gaps) => {
      let at = 0;
      const reports = gaps.map((gap) => (at += gap));
      const heard = new LastHeard(0, TIMEOUT * REPORT_PART);
      const touches: number[] = [];
      let [sent, touched, answered] = [0, 0, 0];
      for (const { gap, there, back } of steps) {
        sent += gap;
        touched = Math.max(touched, sent + there); // in order
        answered = Math.max(answered, touched + back);
        if (touched > at) return;
        touches.push(touched);
        heard.noteAnswer(sent, answered);
        expect(heard.certain).toBeLessThanOrEqual(heardByLeader(0, touches, reports, touched));
      }
    }),
    { numRuns: 3_000 },
  );
});

test('signs of life that are answered at once keep a half of the timeout in hand, and more than is scarce', () => {
  const heard = new LastHeard(0, TIMEOUT * REPORT_PART);
  let least = TIMEOUT;
  for (let sent = 0; sent < 20 * TIMEOUT; sent += TIMEOUT * BEAT_PART) {
    least = Math.min(least, heard.certain + TIMEOUT * SURE_PART - sent);
    heard.noteAnswer(sent, sent + 1);
  }
  expect(least).toBeGreaterThan(TIMEOUT * 0.48);
  expect(least).toBeGreaterThan(TIMEOUT * SCARCE_PART);
});
