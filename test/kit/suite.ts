import { describe, expect, test } from 'vitest';
import { type Case, conformance, type Need, type Subject } from '../../products/testing/index.ts';
import { unlessClockIsSet } from './machine-clock.ts';
import { chosenEngines, type Part, whyNot } from './selection.ts';

/** `describe` for tests that need engines or programs. Where one is left out or missing, they are skipped and the title says why. */
export function describeOn(parts: Part | readonly Part[], title: string, body: () => void): void {
  const reason = whyNot(parts, chosenEngines(process.env.BACKENDS));
  if (reason === undefined) describe(title, body);
  else describe.skip(`${title} [${reason}]`, body);
}

/** Whether the cases run at a time. `one by one` where they keep the cores busy instead of waiting: several servers, or no wake-ups. */
export type Pace = 'side by side' | 'one by one';

/** What an engine lacks that laws need, and why. */
export type Lacks = Readonly<Partial<Record<Need, string>>>;

/**
 * Registers the conformance suite for a backend. A clock that is moved by hand is for one case at a time.
 * @param lacks if given, a law that is excluded by something else fails
 */
export function describeConformance(subject: Subject, pace: Pace = 'side by side', lacks?: Lacks): void {
  describe(`${subject.name} conforms`, () =>
    describeCases(conformance(subject), subject.clock ? 'one by one' : pace, lacks));
}

/** Registers cases of the suite, and a test for each thing that is lacking. What excludes a case is shown beside its name. */
export function describeCases(cases: readonly Case[], pace: Pace, lacks?: Lacks): void {
  for (const { name, alone, run } of cases) {
    // The suite bounds each case itself, with a message; this limit is only behind it.
    // Most have a key and clients of their own, and wait for leases to expire: several at a time.
    test(name, { timeout: 180_000, concurrent: pace === 'side by side' && !alone }, async ({ skip }) => {
      const { excludedBy } = await unlessClockIsSet(name, run);
      if (!excludedBy) return;
      if (lacks) expect(Object.keys(lacks), 'what laws may be left out for').toContain(excludedBy);
      skip([`needs ${excludedBy}`, lacks?.[excludedBy]].filter(Boolean).join(': '));
    });
  }
  for (const [need, why] of Object.entries(lacks ?? {})) {
    test(`lacks ${need}: ${why}`, { timeout: 60_000 }, async () => {
      const excluded = new Set<string | undefined>();
      for (const { run } of cases.filter(({ needs }) => needs.includes(need as Need))) {
        if (excluded.has(need)) break;
        excluded.add((await run()).excludedBy);
      }
      expect([...excluded], 'by what laws that need it are excluded').toContain(need);
    });
  }
}
