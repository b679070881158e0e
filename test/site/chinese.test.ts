import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { chineseOf, englishOf, linkedPath, root } from '../../site/pages.ts';

const text = (page: string): string => readFileSync(join(root, page), 'utf8');
const pages = ['*.zh-CN.md', 'docs/**/*.zh-CN.md'].flatMap((glob) => globSync(glob, { cwd: root })).sort();

/** What a newcomer reads in the first hour. */
const FIRST_HOUR = [
  'README.md',
  'docs/README.md',
  'docs/start.md',
  'docs/which-lock.md',
  'docs/guides/choosing-an-engine.md',
  'docs/guides/ttl-renewal-fencing.md',
  'docs/guides/traps.md',
  'docs/guides/lab.md',
  'docs/guides/frameworks.md',
  'docs/guides/schedules.md',
  'docs/guides/waiting.md',
  'docs/guides/errors.md',
  'docs/backends/file.md',
  'docs/backends/redis.md',
  'docs/backends/postgres.md',
  'docs/cli.md',
  'docs/production.md',
  'docs/troubleshooting.md',
  'docs/glossary.md',
  'docs/questions.md',
  'docs/comparison.md',
  'docs/guides/leading.md',
  'docs/guides/memo.md',
  'docs/recipes/README.md',
];

const blocks = (page: string) =>
  [...text(page).matchAll(/^```(\w*)(?: \[[^\]\n]*\])?\n(.*?)^```$/gms)].map(([, language, code]) => ({
    language,
    code,
  }));
const prose = (page: string): string => text(page).replace(/^```.*?^```$/gms, '');
/** The words of a diagram are translated, its shape is not. */
const codeOf = (page: string): string[] =>
  blocks(page).map(({ language, code }) => (language === 'mermaid' ? `${code!.split('\n').length} lines` : code!));
const levels = (page: string): string[] => [...prose(page).matchAll(/^(#+) /gm)].map(([, level]) => level!);
const rows = (page: string): number => [...prose(page).matchAll(/^\|/gm)].length;
const items = (page: string): number => [...prose(page).matchAll(/^(?:-|\d\.) /gm)].length;
const linked = (page: string): string[] =>
  [...prose(page).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link]) => link!.replace(/#.*$/, ''))
    .filter((link) => link !== '')
    .map((link) => (/^https?:/.test(link) ? link : englishOf(linkedPath(page, link))))
    .sort();

test.each(FIRST_HOUR)('%s is there in Chinese', (page) => {
  expect(chineseOf(page)).toBeDefined();
});

test.each(pages)('%s has the code, headings, rows and links of its English page', (page) => {
  const english = englishOf(page);
  expect(existsSync(join(root, english)), english).toBe(true);
  expect(codeOf(page)).toEqual(codeOf(english));
  expect(levels(page)).toEqual(levels(english));
  expect([rows(page), items(page)]).toEqual([rows(english), items(english)]);
  expect(linked(page)).toEqual(linked(english));
});

test.each(pages)('%s leads to Chinese pages where they are there', (page) => {
  const links = [...prose(page).matchAll(/\]\((?!https?:)([^)#\s]+\.md)/g)].map(([, link]) => linkedPath(page, link!));
  const inEnglish = links.filter((target) => englishOf(target) === target && chineseOf(target) !== undefined);
  // The front page has a way back.
  expect(inEnglish).toEqual(page === 'README.zh-CN.md' ? ['README.md'] : []);
});

test('the Chinese glossary names every term of the English one beside its own', () => {
  const cells = (page: string, column: number): string[] =>
    [...prose(page).matchAll(/^\|(.*)\|$/gm)].map(([, row]) => row!.split('|')[column]!.trim());
  const english = cells('docs/glossary.md', 0).filter((term) => !/^(word|---)$/.test(term));
  const chinese = cells('docs/glossary.zh-CN.md', 1).filter((term) => !/^(英文|---)$/.test(term));
  const bare = (terms: string[]) => new Set(terms.flatMap((term) => term.split(', ')));
  expect([...bare(english)].filter((term) => !bare(chinese).has(term))).toEqual([]);
});
