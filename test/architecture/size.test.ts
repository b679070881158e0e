/** What a small team can carry. Each number may become less, and never more. */
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { importsOf } from './circles.ts';

const root = join(import.meta.dirname, '..', '..');
const textOf = (path: string): string => readFileSync(join(root, path), 'utf8');
const linesOf = (path: string): number => textOf(path).trimEnd().split('\n').length;
const written = (glob: string): string[] =>
  globSync(glob, { cwd: root })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => !path.includes('.generated.'));

const sizeOf = (...globs: string[]): { lines: number; files: number } => {
  const files = globs.flatMap(written);
  return { lines: files.map(linesOf).reduce((sum, each) => sum + each, 0), files: files.length };
};

test('the lock has at most 39,410 lines in 345 files', () => {
  const { lines, files } = sizeOf('src/**/*.*');
  expect(lines, `${lines} lines in ${files} files`).toBeLessThanOrEqual(39_410);
  expect(lines).toBeGreaterThan(10_000);
  expect(files).toBeLessThanOrEqual(345);
});

test('what stands on the lock has at most 17,300 lines', () => {
  const { lines, files } = sizeOf('products/**/*.*');
  expect(lines, `${lines} lines in ${files} files`).toBeLessThanOrEqual(17_300);
  expect(lines).toBeGreaterThan(5_000);
});

test('the engines that apply the one queue, or write its text in one statement, have at most 4,900 lines', () => {
  const { lines, files } = sizeOf('src/backends/{mysql,file,mongodb}/**/*.*', 'src/backends/memory*');
  expect(lines, `${lines} lines in ${files} files`).toBeLessThanOrEqual(4_900);
  expect(lines).toBeGreaterThan(1_000);
});

test('few files of less than 30 lines have one reader: what is one idea is one file', () => {
  const sources = written('{src,products}/**/*.{ts,tsx}');
  const read = sources.flatMap((path) => [...new Set(importsOf(path, textOf(path)))]);
  expect(read.length).toBeGreaterThan(1_000);
  const readers = Map.groupBy(read, (path) => path);
  // The index of an engine is an entry of the package, too.
  const short = sources.filter(
    (path) => readers.get(path)?.length === 1 && !path.endsWith('/index.ts') && linesOf(path) < 30,
  );
  expect(short.length, short.join('\n')).toBeLessThanOrEqual(4);
});

test('npm ci installs at most 450 packages on a machine', () => {
  const { packages } = JSON.parse(textOf('package-lock.json')) as {
    packages: Record<string, { os?: string[]; cpu?: string[]; libc?: string[] }>;
  };
  const allows = (names: readonly string[] | undefined, ours: string): boolean =>
    !names || names.includes(ours) || (names.every((name) => name.startsWith('!')) && !names.includes(`!${ours}`));
  const installed = Object.entries(packages).filter(
    ([path, { os, cpu, libc }]) => path !== '' && allows(os, 'linux') && allows(cpu, 'x64') && allows(libc, 'glibc'),
  );
  expect(installed.length).toBeGreaterThan(100);
  expect(installed.length).toBeLessThanOrEqual(450);
});

test('the map explains at most ten words, and a newcomer reads at most ten decisions', () => {
  const [, words = ''] = /^## Words\n(.*?)^## /ms.exec(textOf('ARCHITECTURE.md')) ?? [];
  const rows = words.split('\n').filter((line) => line.startsWith('|'));
  expect(rows.length).toBeGreaterThan(5);
  expect(rows.length - 2).toBeLessThanOrEqual(10);
  const decisions = written('docs/decisions/*.md').filter((path) => !/README|zh-CN/.test(path));
  expect(decisions.length, decisions.join()).toBeLessThanOrEqual(10);
});

test.runIf(existsSync(join(root, '.git')))(
  'git has nothing that a command makes: no module of Lua or SQL, no result',
  () => {
    const tracked = (...args: string[]): string[] =>
      execFileSync('git', ['ls-files', ...args], { cwd: root, encoding: 'utf8' })
        .split('\n')
        .filter(Boolean);
    expect(tracked().length).toBeGreaterThan(500);
    expect(tracked('--cached', '--ignored', '--exclude-standard')).toEqual([]);
    expect(tracked().filter((path) => /\/results\/|\.generated\./.test(path))).toEqual([]);
  },
);
