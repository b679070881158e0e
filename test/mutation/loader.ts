/** Imported first by a process that runs mutants: `vitest` is suite.ts there, and the sources have all their mutants in them. */
import { readFileSync } from 'node:fs';
import { registerHooks, stripTypeScriptTypes } from 'node:module';
import { fileURLToPath } from 'node:url';
import { schemata } from './schemata.ts';
import { allMutants, numbered, root } from './sources.ts';

declare global {
  /** Whether this mutant does its work now. Called at its place. */
  var __mutant: (number: number) => boolean;
}

/** Which mutant does its work, and which places are come by. */
export const active: { number: number; reached: Uint8Array | undefined } = { number: -1, reached: undefined };
globalThis.__mutant = (number) => {
  if (active.reached) active.reached[number] = 1;
  return active.number === number;
};

export const mutants = allMutants();
const numbers = numbered(mutants);
const byFile = Map.groupBy(mutants, ({ file }) => `${root}${file}`);

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'vitest'
      ? { url: new URL('suite.ts', import.meta.url).href, shortCircuit: true }
      : next(specifier, context),
  load: (url, context, next) => {
    const own = url.startsWith('file:') ? byFile.get(fileURLToPath(url)) : undefined;
    if (!own) return next(url, context);
    const whole = readFileSync(fileURLToPath(url), 'utf8');
    const source = stripTypeScriptTypes(schemata(whole, own, (mutant) => numbers.get(mutant.id)!));
    return { format: 'module', source, shortCircuit: true };
  },
});
