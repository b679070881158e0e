/** What a reader is handed: no more than can be read. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { navigation } from '../../site/navigation.ts';

const root = new URL('../../', import.meta.url).pathname;

/** Written by commands from results, or kept from the day of a decision. The navigation has them folded, under Proof. */
const REPORT = /^docs\/(?:evidence\.md|evidence\/|compatibility\.md|known-bugs\.md|decisions\/)/;
const pages = globSync('docs/**/*.md', { cwd: root }).filter(
  (page) => !page.endsWith('.zh-CN.md') && !REPORT.test(page),
);

/** Outside of code blocks and comments, what has a letter or a digit: the bars of a table are no words. */
const wordsIn = (text: string): number =>
  text
    .replace(/^ *```[\s\S]*?^ *```$|<!--[\s\S]*?-->/gm, '')
    .split(/\s+/)
    .filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
const wordsOf = (page: string): number => wordsIn(readFileSync(join(root, page), 'utf8'));

test('at most 40 pages in English and 50,000 words', () => {
  expect(pages.length).toBeGreaterThan(20);
  expect(pages.length).toBeLessThanOrEqual(40);
  expect(pages.map(wordsOf).reduce((sum, words) => sum + words, 0)).toBeLessThanOrEqual(50_000);
});

test('about 25 pages stand open in the navigation, and the first page is read in 15 minutes', () => {
  const open = navigation.filter(({ folded }) => !folded).flatMap((section) => section.pages);
  expect(open.length).toBeLessThanOrEqual(27);
  // With its files and commands: 180 words a minute leave time to type.
  const start = readFileSync(join(root, 'docs/start.md'), 'utf8');
  expect(start.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length).toBeLessThan(15 * 180);
});

test('words in prose and in tables count, code and bars do not', () => {
  expect(wordsIn('Two words.\n\n| a | – |\n| --- | --- |\n\n```sh\nnot these\n```\n')).toBe(3);
});
