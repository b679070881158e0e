/** Which blocks of the pages are run, and why the others are not. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { blocksOf } from './block.ts';
import { PAGES_WITH_FILES } from './whole-files.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
// A page in Chinese has the same blocks: `test/site/chinese.test.ts` compares them.
const pages = ['*.md', 'docs/**/*.md']
  .flatMap((glob) => globSync(glob, { cwd: root, exclude: ['**/node_modules/**'] }))
  .filter((page) => !page.endsWith('.zh-CN.md'))
  .sort();
const nameOf = (page: string, heading: string, nth: number): string => `${page} | ${heading} | ${nth}`;
/** Whole files, which begin with their name: test/docs/recipes.test.ts runs them. */
const isFile = (page: string, code: string): boolean =>
  PAGES_WITH_FILES.includes(page) && /^\/\/ [\w-]+\.ts\n/.test(code);
const all = pages.flatMap((page) =>
  blocksOf(page)
    .filter(({ code }) => !isFile(page, code))
    .map(({ heading, nth }) => nameOf(page, heading, nth)),
);

const THE_SUITE = 'it registers tests; test/examples/own-backend.test.ts runs the suite over the same backend';

/** Blocks that no test runs as they are, and why. */
const NOT_RUN: Readonly<Record<string, string>> = {
  'docs/backends/mongodb.md | In one minute | 1': 'MongoDB cannot be installed where the tests run',
  'docs/backends/postgres.md | Other clients | 1': 'test/backends/postgres/postgres-js.test.ts takes the same client',
  'docs/guides/your-own-engine.md | Prove the store | 1':
    'it registers tests; test/docs/blocks/stores.test.ts runs them over the same store',
  'docs/guides/your-own-engine.md | Prove the backend | 1': THE_SUITE,
  'docs/guides/your-own-engine.md | Prove the backend | 2': THE_SUITE,
  'docs/guides/your-own-engine.md | Prove the backend | 3': 'it names an engine that only its reader has',
};

/** Each test of a block names it by its page, its heading, and its number there. */
function run(): string[] {
  const sources = globSync('test/docs/blocks/*.test.ts', { cwd: root }).map((file) =>
    readFileSync(join(root, file), 'utf8'),
  );
  const calls = sources.join('\n').matchAll(/\b(?:example|found)\(\s*'([^']+)',\s*'([^']+)'(?:,\s*(\d+))?,?\s*\)/g);
  return [...calls].map(([, page, heading, nth]) => nameOf(page!, heading!, Number(nth ?? 1)));
}

test('every block of the pages is run by a test, or it is said why not', () => {
  const known = new Set([...run(), ...Object.keys(NOT_RUN)]);
  expect(all.filter((block) => !known.has(block))).toEqual([]);
});

test('what is said not to be run is there, and is not run', () => {
  const ran = new Set(run());
  expect(Object.keys(NOT_RUN).filter((block) => !all.includes(block) || ran.has(block))).toEqual([]);
});
