import { describe, test } from 'vitest';
import { conformance, type Subject } from '../../src/testing/index.ts';
import { chosen, type Part, whyNot } from './selection.ts';

/** `describe` for tests that need engines or programs. Where one is left out or missing, they are skipped and the title says why. */
export function describeOn(parts: Part | readonly Part[], title: string, body: () => void): void {
  const reason = whyNot(parts, chosen(process.env.BACKENDS));
  if (reason === undefined) describe(title, body);
  else describe.skip(`${title} [${reason}]`, body);
}

/**
 * Registers the conformance suite for a backend. What excludes a case is shown beside its name.
 * @param pace `one by one` where cases keep the cores busy instead of waiting: several servers, or no wake-ups. A clock that is moved by hand is for one case at a time
 */
export function describeConformance(subject: Subject, pace: 'side by side' | 'one by one' = 'side by side'): void {
  describe(`${subject.name} conforms`, () => {
    for (const { name, alone, run } of conformance(subject)) {
      // The suite bounds each case itself, with a message; this limit is only behind it.
      // Most have a key and clients of their own, and wait for leases to lapse: several at a time.
      test(name, { timeout: 60_000, concurrent: pace === 'side by side' && !alone && !subject.clock }, async ({
        skip,
      }) => {
        const { excludedBy } = await run();
        if (excludedBy) skip(`needs ${excludedBy}`);
      });
    }
  });
}
