/** `- [ ] text` becomes a box to tick, as on code forges. */
import type { MarkdownRenderer } from 'vitepress';

const OPEN = '[ ] ';

export function checklists(md: MarkdownRenderer): void {
  md.core.ruler.push('checklists', (state) => {
    for (const [i, { type, content, children }] of state.tokens.entries()) {
      const first = children?.[0];
      const isItem = type === 'inline' && state.tokens[i - 2]?.type === 'list_item_open' && content.startsWith(OPEN);
      if (!isItem || first?.type !== 'text') continue;
      first.content = first.content.slice(OPEN.length);
      const box = Object.assign(new state.Token('html_inline', '', 0), {
        content: '<input type="checkbox" aria-label="done"> ',
      });
      children!.unshift(box);
      state.tokens[i - 2]!.attrJoin('class', 'to-do');
    }
  });
}
