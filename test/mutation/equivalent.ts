import { readFileSync } from 'node:fs';
import { placeOf } from './identity.ts';

interface Line {
  /** The file, the declaration, and the identity of the mutant. */
  readonly id: string;
  readonly why: string;
}

/** Mutants that no test can kill, since they change nothing that a test could see. Somebody has looked at each, and wrote down why. */
export const EQUIVALENT: ReadonlySet<string> = new Set(
  readFileSync(new URL('equivalent.jsonl', import.meta.url), 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => (JSON.parse(line) as Line).id),
);

/** The judgement holds as long as the declaration around the mutant is the same. */
export const isEquivalent = (id: string): boolean => EQUIVALENT.has(placeOf(id));
