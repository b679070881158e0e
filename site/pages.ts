/** Where a page of the repository stands on the site. */
import { dirname, posix } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Of the repository, with a slash at its end. */
export const root: string = fileURLToPath(new URL('../', import.meta.url));

const FRONT_PAGES: Readonly<Record<string, string>> = {
  'README.md': 'index.md',
  'README.zh-CN.md': 'zh/index.md',
  'docs/decisions/README.md': 'decisions/index.md',
};

/** From `docs/guides/waiting.md` to `guides/waiting.md`: what stands in the repository's folder for pages stands at the top here. */
export const rewrittenPath = (page: string): string =>
  FRONT_PAGES[page] ??
  (/^(docs|site)\//.test(page)
    ? page.replace(/^docs\/|^site\/(?=reference\/)/, '').replace('/pages/', '/')
    : page.toLowerCase());

/** From `docs/guides/waiting.md` to `/guides/waiting.html`. */
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
