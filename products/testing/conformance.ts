import { type Case, caseOf } from './case.ts';
import { admission } from './laws/admission.ts';
import { attempts } from './laws/attempts.ts';
import { expiry } from './laws/expiry.ts';
import { hints } from './laws/hints.ts';
import { histories } from './laws/histories.ts';
import { inspection } from './laws/inspection.ts';
import { keys } from './laws/keys.ts';
import { tokens } from './laws/tokens.ts';
import { values } from './laws/values.ts';
import { wakeUps } from './laws/wake-ups.ts';
import { classics } from './lock-laws/classics.ts';
import { contexts } from './lock-laws/contexts.ts';
import { force } from './lock-laws/force.ts';
import { input } from './lock-laws/input.ts';
import { leases } from './lock-laws/leases.ts';
import { releasing } from './lock-laws/releasing.ts';
import { starvation } from './lock-laws/starvation.ts';
import { unknown } from './lock-laws/unknown.ts';
import { waiting } from './lock-laws/waiting.ts';
import type { Subject } from './scene.ts';

const OF_BACKENDS = [admission, expiry, tokens, wakeUps, inspection, keys, hints, values, attempts, histories].flat();
const OF_LOCKS = [classics, waiting, starvation, leases, releasing, force, unknown, contexts, input].flat();

/**
 * The laws of the contract (`Backend`), as cases for a backend without locks.
 * @example for (const { name, run } of laws({ name: 'mine', open: async () => memory() })) test(name, () => run().then(() => {}));
 */
export function laws(subject: Subject): Case[] {
  return OF_BACKENDS.map((law) => caseOf(subject, law));
}

/**
 * All laws that a backend must keep, as cases for any test runner: first those of the contract, then those of locks.
 * @example
 * for (const { name, run } of conformance(subject)) {
 *   test(name, async (context) => {
 *     const { excludedBy } = await run();
 *     if (excludedBy) context.skip(`needs ${excludedBy}`);
 *   });
 * }
 */
export function conformance(subject: Subject): Case[] {
  return [...laws(subject), ...OF_LOCKS.map((law) => caseOf(subject, law))];
}
