/** Every page as Markdown, for programs that read: `llms.txt` leads to them. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { linkedPath, rewrittenPath, root } from './pages.ts';

/** Where the Markdown of a page is on the site. */
export const textAddressOf = (page: string): string => `/${rewrittenPath(page)}`;

const isPage = (path: string): boolean => /^((docs|site)\/.*|[^/]+)\.md$/.test(path) && existsSync(join(root, path));

/** The page with links that work on the site. A picture becomes the words that describe it, and a link to a source file its text. */
export function textOf(page: string, base: string): string {
  const text = readFileSync(join(root, page), 'utf8').replace(/<img [^>]*\balt="([^"]*)"[^>]*>/g, '$1');
  return text.replace(
    /(!?)\[([^\]]+)\]\(((?![a-z]+:|#)[^)\s#]+)(#[^)\s]*)?\)/g,
    (_, picture: string, words: string, link: string, anchor = '') => {
      if (picture) return words;
      const linked = linkedPath(page, link).replace(/\/$/, '');
      const target = isPage(linked) ? linked : `${linked}/README.md`;
      return isPage(target) ? `[${words}](${base}${textAddressOf(target).slice(1)}${anchor})` : words;
    },
  );
}

export function writeTexts(folder: string, pages: readonly string[], base: string): void {
  for (const page of pages) {
    const file = join(folder, rewrittenPath(page));
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, textOf(page, base));
  }
}
