import { type Case, caseOf } from './case.ts';
import type { Law } from './law.ts';
import { laws } from './laws.ts';
import { adaptive } from './lock-laws/adaptive.ts';
import { classics } from './lock-laws/classics.ts';
import { contexts } from './lock-laws/contexts.ts';
import { force } from './lock-laws/force.ts';
import { input } from './lock-laws/input.ts';
import { leases } from './lock-laws/leases.ts';
import { parts } from './lock-laws/parts.ts';
import { releasing } from './lock-laws/releasing.ts';
import { sharing } from './lock-laws/sharing.ts';
import { starvation } from './lock-laws/starvation.ts';
import { unknown } from './lock-laws/unknown.ts';
import { waiting } from './lock-laws/waiting.ts';
import type { Subject } from './subject.ts';

const FACE: readonly Law[] = [
  ...classics,
  ...waiting,
  ...starvation,
  ...leases,
  ...adaptive,
  ...releasing,
  ...sharing,
  ...parts,
  ...force,
  ...unknown,
  ...contexts,
  ...input,
];

/**
 * All that a backend must keep, as cases for any test runner: the laws of the contract first, then what users of locks rely on.
 * @example
 * for (const { name, run } of conformance(subject)) {
 *   test(name, async (context) => {
 *     const { excludedBy } = await run();
 *     if (excludedBy) context.skip(`needs ${excludedBy}`);
 *   });
 * }
 */
export function conformance(subject: Subject): Case[] {
  return [...laws(subject), ...FACE.map((law) => caseOf(subject, law))];
}
