/** Each cell knows the head of its column, which a phone shows before it: there the cells of a row stand one below the other. */
import type { MarkdownRenderer } from 'vitepress';

export function tables(md: MarkdownRenderer): void {
  md.core.ruler.push('heads-of-columns', (state) => {
    let heads: string[] = [];
    let column = 0;
    for (const [i, token] of state.tokens.entries()) {
      if (token.type === 'table_open') heads = [];
      if (token.type === 'tr_open') column = 0;
      if (token.type === 'th_open')
        heads.push(state.tokens[i + 1]!.content.replace(/[`*]|\[([^\]]*)\]\([^)]*\)/g, '$1'));
      if (token.type !== 'td_open') continue;
      const head = heads[column++];
      if (head) token.attrSet('data-head', head);
    }
  });
}
