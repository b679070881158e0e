import { execFile } from 'node:child_process';
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { sourceOf } from '../scripts/sources.mjs';
import { allExamples } from '../site/reference/examples.ts';
import { subpaths } from '../site/reference/subpaths.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const pages = [...globSync('*.md', { cwd: root }), ...globSync('docs/**/*.md', { cwd: root })].sort();
const text = (page: string): string => readFileSync(join(root, page), 'utf8');

/** `holdfast/x` means the types that are published as it. */
function paths(dist: string): Record<string, string[]> {
  const { exports } = JSON.parse(text('package.json')) as { exports: Record<string, { types?: string }> };
  const typed = Object.entries(exports).flatMap(([name, { types }]) => (types ? [[name, types] as const] : []));
  return Object.fromEntries(typed.map(([name, types]) => [`holdfast${name.slice(1)}`, [sourceOf(types, dist)]]));
}

/** What it complains of, if anything. */
const tsc = (...args: readonly string[]): Promise<string> =>
  promisify(execFile)(join(root, 'node_modules/.bin/tsc'), args).then(
    () => '',
    ({ stdout }) => stdout,
  );

/** A block that exports a function is the module of that name, for the other blocks to import. */
const exported = (block: string): string | undefined => /^export (?:async )?function (\w+)/m.exec(block)?.[1];

/** A block that exports a constant is a whole module too. More than one page exports the same name, so it has no name for others. */
const whole = (block: string): boolean => /^export const /m.test(block);

/** A block whose first line is the name of a file is that file, as a whole. */
const file = (block: string): string | undefined => /^\/\/ ([\w-]+)\.ts\n/.exec(block)?.[1];

/** Any other block as a module: what it imports stays at the top, the rest may await, and may return. */
function moduleOf(block: string): string {
  if (exported(block) || file(block) || whole(block)) return block;
  const imports = block.match(/^import [^;]*;\n?/gm) ?? [];
  const body = imports.reduce((rest, line) => rest.replace(line, ''), block);
  return `${imports.join('')}export async function example() {\n${body}\n}\n`;
}

test('every ts block of the documents and every example of a doc comment compiles, and every client that they name is taken, by the strictest rules', {
  timeout: 120_000,
}, async () => {
  const folder = join(root, '.tmp', `docs-${process.pid}`);
  const origins = new Map<string, string>();
  mkdirSync(folder, { recursive: true });
  try {
    for (const page of pages) {
      for (const { 1: block, index } of text(page).matchAll(/^```ts(?: \[[^\]\n]*\])?\n([\s\S]*?)^```$/gm)) {
        const name = `${file(block!) ?? exported(block!) ?? `${page.replace(/\W/g, '-')}-${index}`}.ts`;
        origins.set(name, `${page}:${text(page).slice(0, index).split('\n').length}`);
        writeFileSync(join(folder, name), moduleOf(block!));
      }
    }
    for (const [i, { at, code }] of allExamples(subpaths()).entries()) {
      origins.set(`example-${i}.ts`, at);
      writeFileSync(join(folder, `example-${i}.ts`), moduleOf(code));
    }
    expect(origins.size).toBeGreaterThan(150);
    const dist = join(folder, 'dist');
    expect(await tsc('-p', join(root, 'tsconfig.build.json'), '--emitDeclarationOnly', '--outDir', dist)).toBe('');
    // As in a project that includes the package, and not as here.
    const compilerOptions = { exactOptionalPropertyTypes: true, skipLibCheck: false, paths: paths(dist) };
    const files = [...origins.keys(), ...['ambient.d.ts', 'clients.ts'].map((name) => join(root, `test/docs.${name}`))];
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ extends: join(root, 'tsconfig.json'), compilerOptions, files, include: [], exclude: [] }),
    );
    // Their own types do not keep these rules: the types of Hono ask for those of a browser.
    const said = (await tsc('-p', folder)).replace(/^node_modules\/(?:@nats-io|hono)\/.*\n(?: {2}.*\n?)*/gm, '');
    const shown = said.replace(/^(\S+\.ts)\((\d+)/gm, (at, file, line) => {
      const origin = origins.get(basename(file));
      return origin ? `${origin} +${line}` : at;
    });
    expect(shown).toBe('');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('every link in the documents leads somewhere', () => {
  const dead = pages.flatMap((page) =>
    [...text(page).matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, target]) => target!.replace(/#.*$/, ''))
      .filter((target) => target !== '' && !/^[a-z]+:/.test(target))
      .filter((target) => !existsSync(join(root, normalize(join(dirname(page), target)))))
      .map((target) => `${page}: ${target}`),
  );
  expect(dead).toEqual([]);
});

test('every file of the repository that a document names is there', () => {
  const missing = pages.flatMap((page) =>
    [...text(page).matchAll(/`((?:src|test|bench|examples|models|scripts)\/[\w./-]+)`/g)]
      .filter(([, path]) => !existsSync(join(root, path!)))
      .map(([, path]) => `${page}: ${path}`),
  );
  expect(missing).toEqual([]);
});
