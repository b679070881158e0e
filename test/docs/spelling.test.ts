import { execFile } from 'node:child_process';
import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { describeOn } from '../kit/suite.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const config = join(root, 'test/docs/cspell.json');

/** Each word that no dictionary has, with where it stands. */
const misspelt = (cwd: string, pages: readonly string[]): Promise<string> =>
  promisify(execFile)(
    process.execPath,
    [
      join(root, 'site/node_modules/cspell/bin.mjs'),
      'lint',
      '--config',
      config,
      '--no-progress',
      '--no-summary',
      ...pages,
    ],
    { cwd },
  ).then(
    () => '',
    ({ code, stdout, stderr }) => (code === 1 && stdout !== '' ? stdout : `cspell failed: ${stderr}`),
  );

describeOn('site', 'the spelling of the pages', () => {
  test('the pages in English are spelt as dictionaries and words.txt say', async () => {
    const pages = ['*.md', 'docs/**/*.md'].flatMap((pattern) => globSync(pattern, { cwd: root }));
    const english = pages.filter((page) => !page.endsWith('.zh-CN.md'));
    expect(english.length).toBeGreaterThan(60);
    expect(await misspelt(root, english)).toBe('');
  }, 60_000);

  test('a misspelt word is found, in prose and not in code', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'spelling-'));
    try {
      writeFileSync(join(folder, 'page.md'), '# A paeg\n\nThe `lcok` is\n\n```ts\nconst hldre = 1;\n```\n');
      expect(await misspelt(folder, ['page.md'])).toMatch(/^page\.md:1:5 - Unknown word \(paeg\).*\n$/);
    } finally {
      rmSync(folder, { recursive: true });
    }
  }, 60_000);
});
