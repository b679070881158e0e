import { execFile } from 'node:child_process';
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const pages = [...globSync('*.md', { cwd: root }), ...globSync('docs/**/*.md', { cwd: root })].sort();
const text = (page: string): string => readFileSync(join(root, page), 'utf8');

/** `holdfast/x` means the source that is published as it. */
function paths(): Record<string, string[]> {
  const { exports } = JSON.parse(text('package.json')) as { exports: Record<string, { default?: string }> };
  const sources = Object.entries(exports).filter(([, { default: built }]) => built?.endsWith('.js'));
  return Object.fromEntries(
    sources.map(([name, { default: built }]) => {
      const source = built!.replace('./dist/', './src/').replace(/\.js$/, '.ts');
      return [`holdfast${name.slice(1)}`, [join(root, source)]];
    }),
  );
}

/** A block that exports a function is the module of that name, for the other blocks to import. */
const exported = (block: string): string | undefined => /^export function (\w+)/m.exec(block)?.[1];

/** Any other block as a module: what it imports stays at the top, the rest may await, and may return. */
function moduleOf(block: string): string {
  if (exported(block)) return block;
  const imports = block.match(/^import [^;]*;\n?/gm) ?? [];
  const body = imports.reduce((rest, line) => rest.replace(line, ''), block);
  return `${imports.join('')}export async function example() {\n${body}\n}\n`;
}

test('every ts block of the documents compiles', { timeout: 120_000 }, async () => {
  const folder = join(root, '.tmp', `docs-${process.pid}`);
  const origins = new Map<string, string>();
  mkdirSync(folder, { recursive: true });
  try {
    for (const page of pages) {
      for (const { 1: block, index } of text(page).matchAll(/^```ts\n([\s\S]*?)^```$/gm)) {
        const file = `${exported(block!) ?? `${page.replace(/\W/g, '-')}-${index}`}.ts`;
        origins.set(file, `${page}:${text(page).slice(0, index).split('\n').length}`);
        writeFileSync(join(folder, file), moduleOf(block!));
      }
    }
    expect(origins.size).toBeGreaterThan(20);
    const compilerOptions = { noImplicitAny: false, noUnusedLocals: false, paths: paths() };
    const files = [...origins.keys(), join(root, 'test/docs.ambient.d.ts')];
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ extends: join(root, 'tsconfig.json'), compilerOptions, files, include: [], exclude: [] }),
    );
    const tsc = join(root, 'node_modules/.bin/tsc');
    const { stdout } = await promisify(execFile)(tsc, ['-p', folder], { cwd: folder }).catch((failed) => failed);
    const shown = (stdout as string).replace(/^(\S+\.ts)\((\d+)/gm, (_, file, line) => `${origins.get(file)} +${line}`);
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
