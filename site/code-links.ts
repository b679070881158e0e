/** Names in code lead to where they are told: the first time that a page names one. */
import type { MarkdownRenderer } from 'vitepress';
import { pageOf } from './links.ts';
import { englishOf, LAB } from './pages.ts';
import { GENERATED } from './reference/subpaths.ts';

/** Where a name in code leads, or undefined. */
export type Target = (name: string, page: string) => string | undefined;

/** Pages on which the names are those of other libraries, or of the past. */
const OF_OTHERS = new Set(['CHANGELOG.md', 'docs/comparison.md', 'docs/known-bugs.md']);

/** A type, or a function that is called: `redis` alone is also a program. */
const EXPORT = /^(?=.*[A-Z(])(\w+)(?:\(.*\))?$/;

export const toExports =
  (addresses: ReadonlyMap<string, string>): Target =>
  (name, page) =>
    OF_OTHERS.has(page) || page.startsWith(GENERATED) ? undefined : addresses.get(EXPORT.exec(name)?.[1] ?? '');

/** On the pages that are about them, scenes of the lab lead to it: it stands beside the pages. */
export const toScenes =
  (scenes: readonly string[]): Target =>
  (name, page) =>
    /^docs\/guides\/traps\.md$/.test(englishOf(page)) && scenes.includes(name) ? `${LAB}#scene=${name}` : undefined;

/** Without a target the router looks for a page of that name. Set before, it would keep the site's base from the link. */
function leaveToLab(md: MarkdownRenderer): void {
  const open = md.renderer.rules.link_open!;
  md.renderer.rules.link_open = (tokens, index, ...rest) => {
    const toLab = tokens[index]!.attrGet('href')?.startsWith(LAB);
    const link = open(tokens, index, ...rest);
    return toLab ? link.replace('<a ', '<a target="_self" ') : link;
  };
}

export function codeLinks(md: MarkdownRenderer, targets: readonly Target[]): void {
  leaveToLab(md);
  md.core.ruler.push('code-links', (state) => {
    const page = pageOf(state.env);
    const linked = new Set<string>();
    const linkTo = (name: string) => targets.map((target) => target(name, page)).find((href) => href !== undefined);
    for (const [i, { children }] of state.tokens.entries()) {
      if (!children || state.tokens[i - 1]?.type === 'heading_open') continue;
      let depth = 0;
      for (let at = 0; at < children.length; at++) {
        const { type, content } = children[at]!;
        depth += type === 'link_open' ? 1 : type === 'link_close' ? -1 : 0;
        const href = type === 'code_inline' && depth === 0 ? linkTo(content) : undefined;
        if (href === undefined || linked.has(href)) continue;
        linked.add(href);
        const open = new state.Token('link_open', 'a', 1);
        open.attrSet('href', href);
        children.splice(at, 1, open, children[at]!, new state.Token('link_close', 'a', -1));
        at += 2;
      }
    }
  });
}
