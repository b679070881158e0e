/** Where a page of the repository stands on the site. */
import { existsSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Of the repository, with a slash at its end. */
export const root: string = fileURLToPath(new URL('../', import.meta.url));

/** What the site opens with. It is in no navigation. */
export const HOME = 'site/home.md';

const FRONT_PAGES: Readonly<Record<string, string>> = {
  [HOME]: 'index.md',
  'docs/README.md': 'pages.md',
  'docs/decisions/README.md': 'decisions/index.md',
};

/** A page in Chinese lies beside the English one. */
const CHINESE = '.zh-CN.md';
export const isChinese = (page: string): boolean => page.endsWith(CHINESE);
export const englishOf = (page: string): string => page.replace(CHINESE, '.md');

/** The same page in Chinese, if there is one. */
export function chineseOf(page: string): string | undefined {
  const chinese = englishOf(page).replace(/\.md$/, CHINESE);
  return existsSync(join(root, chinese)) ? chinese : undefined;
}

/** The same page in the other language, if there is one. */
export function otherLanguageOf(page: string): string | undefined {
  if (!isChinese(page)) return chineseOf(page);
  return existsSync(join(root, englishOf(page))) ? englishOf(page) : undefined;
}

/** From `docs/guides/memo.md` to `guides/memo.md`: what stands in the repository's folder for pages stands at the top here. */
export function rewrittenPath(page: string): string {
  if (isChinese(page)) return `zh/${rewrittenPath(englishOf(page))}`;
  if (page in FRONT_PAGES) return FRONT_PAGES[page]!;
  if (!/^(docs|site)\//.test(page)) return page.toLowerCase();
  return page.replace(/^docs\/|^site\/(?=reference\/)/, '').replace('/pages/', '/');
}

/** From `docs/guides/memo.md` to `/guides/memo.html`. */
export const addressOf = (page: string): string =>
  `/${rewrittenPath(page)
    .replace(/(^|\/)index\.md$/, '$1')
    .replace(/\.md$/, '.html')}`;

/** What a link on a page means, as a path from the top of the repository. */
export const linkedPath = (page: string, link: string): string => posix.join(dirname(page), link);

/** The name that code forges give a heading, so that links into pages work there and here. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\- ]/gu, '')
    .replaceAll(' ', '-');

/** The lab stands beside the pages. */
export const LAB = '/lab/';
