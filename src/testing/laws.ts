import { type Case, caseOf } from './case.ts';
import type { Law } from './law.ts';
import { changes } from './laws/changes.ts';
import { doubt } from './laws/doubt.ts';
import { exclusion } from './laws/exclusion.ts';
import { expiry } from './laws/expiry.ts';
import { histories } from './laws/histories.ts';
import { identity } from './laws/identity.ts';
import { inspection } from './laws/inspection.ts';
import { names } from './laws/names.ts';
import { notes } from './laws/notes.ts';
import { order } from './laws/order.ts';
import { release } from './laws/release.ts';
import { renewal } from './laws/renewal.ts';
import { tokens } from './laws/tokens.ts';
import { attempts } from './laws/tries.ts';
import { watch } from './laws/watch.ts';
import { words } from './laws/words.ts';
import type { Subject } from './subject.ts';

const LAWS: readonly Law[] = [
  ...identity,
  ...exclusion,
  ...order,
  ...release,
  ...renewal,
  ...expiry,
  ...tokens,
  ...watch,
  ...inspection,
  ...changes,
  ...names,
  ...notes,
  ...words,
  ...attempts,
  ...histories,
  ...doubt,
];

/**
 * The laws of the contract (`core/backend.ts`), as cases for a backend alone.
 * @example for (const { name, run } of laws({ name: 'mine', open: async () => memory() })) test(name, () => run().then(() => {}));
 */
export function laws(subject: Subject): Case[] {
  return LAWS.map((law) => caseOf(subject, law));
}
