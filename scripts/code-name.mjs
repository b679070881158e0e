// Names for the code that a proof ran on. They stay while only pages, tests or comments change.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import { FOLDERS } from './sources.mjs';

const root = fileURLToPath(new URL('../', import.meta.url));

const git = (folder, ...args) => execFileSync('git', args, { cwd: folder, encoding: 'utf8' }).trim();

/** Of the files below these folders that are not committed, a line each; '' if there are none. */
export const uncommittedSources = () => git(root, 'status', '--porcelain', ...FOLDERS);

/**
 * What torture, the simulation and the other programs of proof load: the lock, and the products that check it, without what is built on the lock.
 * The laws of the conformance suite are not among them.
 */
const LOCK = [
  ...['core', 'connect', 'backends', 'primitives', 'leading', 'memo', 'once', 'waits', 'locks.ts', 'index.ts'].map(
    (place) => `src/${place}`,
  ),
  ...['products/torture', ':(glob)products/testing/*'],
];

/** A name for the code of all files in these places. Comments, blanks and types of TypeScript do not run, so they are left out. */
function nameOf(folder, places) {
  const files = git(folder, 'ls-files', ...places).split('\n');
  const isCode = (file) => /\.tsx?$/.test(file);
  const { outputFiles } = buildSync({
    ...{ absWorkingDir: folder, entryPoints: files.filter(isCode), outdir: 'out', outbase: '.', write: false },
    ...{ minifyWhitespace: true, legalComments: 'none', logLevel: 'error' },
    tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
  });
  const hash = createHash('sha1');
  for (const { path, text } of outputFiles) hash.update(`${relative(folder, path)}\0${text}\0`);
  for (const file of files.filter((each) => !isCode(each)))
    hash.update(`${file}\0${readFileSync(join(folder, file), 'utf8')}\0`);
  return hash.digest('hex').slice(0, 8);
}

/** A name for the code in `src` and `products`: pages, tests and comments change nothing about it. */
export const nameOfSources = (folder = root) => nameOf(folder, FOLDERS);
/** A name for the code of the lock alone: it stays while an adapter or a page of ours changes. */
export const nameOfLock = (folder = root) => nameOf(folder, LOCK);
