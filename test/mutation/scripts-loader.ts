/**
 * Imported first by a process that judges scripts. Every module of ours is loaded anew for each mutant: some put a text together as
 * they are loaded, and a test file begins as in a process of its own. What lies in `node_modules` is loaded once.
 */
import { readFileSync } from 'node:fs';
import { registerHooks, stripTypeScriptTypes } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Mutant } from './mutant.ts';
import { moduleOf, moduleWith } from './scripts.ts';
import { root } from './sources.ts';

const own = (path: string): string => pathToFileURL(`${root}${path}`).href;
/** What stands for another module. */
const STAND_INS = new Map([
  [own('test/kit/postgres.ts'), own('test/mutation/kept-servers.ts')],
  [own('test/kit/mariadb.ts'), own('test/mutation/kept-servers.ts')],
]);
const anew = (url: string): boolean =>
  url.startsWith(own('')) && !url.startsWith(own('node_modules/')) && !url.startsWith(own('test/mutation/'));

const plain = new Map<string, string>();
const plainOf = (url: string): string => {
  if (!plain.has(url)) plain.set(url, stripTypeScriptTypes(readFileSync(fileURLToPath(url), 'utf8')));
  return plain.get(url)!;
};

let version = 0;
let mutant: Mutant | undefined;

/** From now on, whatever is imported is loaded with this mutant. @returns what to add to the name of a module */
export function withMutant(next: Mutant | undefined): string {
  mutant = next;
  return `?mutant=${++version}`;
}

registerHooks({
  resolve(specifier, context, next) {
    if (specifier === 'vitest') return { url: own('test/mutation/suite.ts'), shortCircuit: true };
    const found = next(specifier, context);
    const query = /\?mutant=\d+$/.exec(context.parentURL ?? '')?.[0];
    if (query === undefined) return found;
    const standIn = STAND_INS.get(found.url);
    if (standIn) return { url: standIn, shortCircuit: true };
    return anew(found.url) ? { ...found, url: `${found.url}${query}` } : found;
  },
  load(url, context, next) {
    const [file, query] = url.split('?mutant=') as [string, string?];
    if (query === undefined || !file.endsWith('.ts')) return next(url, context);
    const source =
      mutant && file === own(moduleOf(mutant))
        ? stripTypeScriptTypes(moduleWith(root, mutant, readFileSync(fileURLToPath(file), 'utf8')))
        : plainOf(file);
    return { format: 'module', source, shortCircuit: true };
  },
});
