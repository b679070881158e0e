/** Links of the pages are those of the repository. Here they are turned into those of the site. */
import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { MarkdownRenderer } from 'vitepress';
import { addressOf, isChinese, linkedPath, root } from './pages.ts';

type Token = ReturnType<MarkdownRenderer['parse']>[number];

/** The page that the renderer is at, as a path from the top of the repository. */
export const pageOf = (env: { path?: string; realPath?: string }): string =>
  relative(root, env.realPath ?? env.path ?? root).replaceAll('\\', '/');

/** A page's address, or undefined where the link leads to a file that is no page. */
function addressFrom(page: string, link: string): string | undefined {
  const [path = '', anchor] = link.split('#');
  const linked = linkedPath(page, decodeURI(path)).replace(/\/$/, '');
  if (!existsSync(join(root, linked))) throw new Error(`${page} links to ${link}, which is not there`);
  const target = existsSync(join(root, linked, 'README.md')) ? `${linked}/README.md` : linked;
  const isPage = /^((docs|site)\/.*|[^/]+)\.md$/.test(target);
  return isPage ? addressOf(target) + (anchor === undefined ? '' : `#${anchor}`) : undefined;
}

/** A link to a source file stays as its text, with the file's name behind it: the sources are not on the site. */
function unlink(
  tokens: Token[],
  open: number,
  page: string,
  Text: new (type: string, tag: string, nesting: 0) => Token,
) {
  const close = tokens.findIndex(({ type }, i) => i > open && type === 'link_close');
  const name = linkedPath(page, String(tokens[open]!.attrGet('href')));
  const inside = tokens.slice(open + 1, close);
  const code = Object.assign(new Text('code_inline', 'code', 0), { content: name });
  // The title of a test says enough; its file is told by the pointer.
  const isTitle = inside[0]?.type === 'em_open' && /\.ts$/.test(name);
  if (isTitle) inside[0]!.attrSet('title', name);
  const isNamed = isTitle || inside.some(({ content }) => content === name);
  const space = (text: string) => Object.assign(new Text('text', '', 0), { content: text });
  tokens.splice(open, close - open + 1, ...inside, ...(isNamed ? [] : [space(' ('), code, space(')')]));
}

export function links(md: MarkdownRenderer): void {
  md.core.ruler.push('links-of-the-repository', (state) => {
    const page = pageOf(state.env);
    for (const token of state.tokens) {
      // HTML that is written by hand: a picture beside the page is found only with a dot before it.
      if (token.type === 'html_block') token.content = token.content.replace(/src="(?=docs\/)/g, 'src="./');
      const children = token.children ?? [];
      for (let i = 0; i < children.length; i++) {
        const href = children[i]!.type === 'link_open' ? children[i]!.attrGet('href') : null;
        if (href === null || /^([a-z]+:|#|\/)/.test(href)) continue;
        const address = addressFrom(page, href);
        if (address === undefined) unlink(children, i, page, state.Token as never);
        else {
          children[i]!.attrSet('href', address);
          if (isChinese(page) && !address.startsWith('/zh/')) children[i]!.attrSet('hreflang', 'en');
        }
      }
    }
  });
}
