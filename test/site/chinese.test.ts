import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ONLY_CHINESE } from '../../site/navigation.ts';
import { chineseOf, englishOf, linkedPath, root } from '../../site/pages.ts';

const text = (page: string): string => readFileSync(join(root, page), 'utf8');
const own = ONLY_CHINESE.map(([page]) => page);
const pages = ['*.zh-CN.md', 'docs/**/*.zh-CN.md', 'site/home.zh-CN.md']
  .flatMap((glob) => globSync(glob, { cwd: root }))
  .filter((page) => !own.includes(page))
  .sort();

/** What a newcomer reads in the first hour, and what the articles that he knows are about. */
const IN_CHINESE = [
  'README.md',
  'docs/README.md',
  'docs/start.md',
  'docs/start-2.md',
  'docs/which-lock.md',
  'docs/guides/ttl-renewal-fencing.md',
  'docs/guides/traps.md',
  'docs/guides/frameworks.md',
  'docs/guides/nestjs.md',
  'docs/guides/memo.md',
  'docs/guides/schedules.md',
  'docs/guides/leading.md',
  'docs/guides/selling-without-overselling.md',
  'docs/guides/testing.md',
  'docs/backends/redis.md',
  'docs/backends/redlock.md',
  'docs/backends/mysql.md',
  'docs/backends/etcd.md',
  'docs/backends/zookeeper.md',
  'docs/production.md',
  'docs/troubleshooting.md',
  'docs/cli.md',
];

const blocks = (page: string) =>
  [...text(page).matchAll(/^```(\w*)(?: \[[^\]\n]*\])?\n(.*?)^```$/gms)].map(([, language, code]) => ({
    language,
    code,
  }));
/** Without code, and without rows that are written into tables of other pages. */
const prose = (page: string): string => text(page).replace(/^```.*?^```$|^<!-- rows .*?^-->$/gms, '');
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

test.each(IN_CHINESE)('%s is there in Chinese', (page) => {
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

/** The last table of a page: in docs/README.md it has the words. */
const words = (page: string, column: number): string[] =>
  [
    ...text(page)
      .split(/^## /m)
      .at(-1)!
      .matchAll(/^\|(.*)\|$/gm),
  ].map(([, row]) => row!.split('|')[column]!.trim());

test('the words in Chinese name every term of the English ones beside their own', () => {
  const english = words('docs/README.md', 0).filter((term) => !/^(word|---)$/.test(term));
  const chinese = words('docs/README.zh-CN.md', 1).filter((term) => !/^(英文|---)$/.test(term));
  const bare = (terms: string[]) => new Set(terms.flatMap((term) => term.split(', ')));
  expect(english.length).toBeGreaterThan(25);
  expect([...bare(english)].filter((term) => !bare(chinese).has(term))).toEqual([]);
});

/** What the articles in Chinese teach. */
const TAUGHT =
  'SETNX 误删 看门狗 可重入 羊群效应 脑裂 锁超时 业务没执行完 分段锁 红锁 主从切换 AP CP Redisson ZooKeeper etcd MySQL 秒杀'.split(
    ' ',
  );

test('a page maps what the articles in Chinese teach to what happens here, with commands that are there', () => {
  const page = text('docs/articles.zh-CN.md');
  expect(TAUGHT.filter((word) => !page.includes(word))).toEqual([]);
  const traps = [...page.matchAll(/npm run example:trap -- ([\w-]+)/g)].map(([, name]) => name!);
  const known = readFileSync(join(root, 'docs/guides/traps.md'), 'utf8');
  expect(traps.length).toBeGreaterThan(5);
  expect(traps.filter((name) => !known.includes(`**\`${name}\``))).toEqual([]);
});
