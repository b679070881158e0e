import { type Case, caseOf, type Law } from './case.ts';
import { adaptive } from './face/adaptive.ts';
import { classics } from './face/classics.ts';
import { contexts } from './face/contexts.ts';
import { force } from './face/force.ts';
import { input } from './face/input.ts';
import { leases } from './face/leases.ts';
import { parts } from './face/parts.ts';
import { releasing } from './face/releasing.ts';
import { unknown } from './face/unknown.ts';
import { waiting } from './face/waiting.ts';
import { laws } from './laws.ts';
import type { Subject } from './subject.ts';

const FACE: readonly Law[] = [
  ...classics,
  ...waiting,
  ...leases,
  ...adaptive,
  ...releasing,
  ...parts,
  ...force,
  ...unknown,
  ...contexts,
  ...input,
];

/**
 * Everything a backend has to keep, the laws of the contract first and then what users of the public face rely on, as cases
 * for any test runner:
 *
 * ```ts
 * for (const { name, run } of conformance(subject)) {
 *   test(name, async (context) => {
 *     const { excludedBy } = await run();
 *     if (excludedBy) context.skip(`needs ${excludedBy}`);
 *   });
 * }
 * ```
 */
export function conformance(subject: Subject): Case[] {
  return [...laws(subject), ...FACE.map((law) => caseOf(subject, law))];
}
