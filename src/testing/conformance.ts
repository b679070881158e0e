import type { Case } from './case.ts';
import { laws } from './laws.ts';
import type { Subject } from './subject.ts';

/**
 * Everything a backend has to keep, as cases for any test runner:
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
  return laws(subject);
}
