/** Blocks of code that follow each other directly, each with a name in brackets behind its language, become tabs. Elsewhere they stay blocks. */
import type { MarkdownRenderer } from 'vitepress';

const NAMED_BLOCKS = /(?:^```\w+ \[[^\]\n]+\]\n[\s\S]*?^```\n+){2,}/gm;

export function tabs(md: MarkdownRenderer): void {
  md.core.ruler.before('normalize', 'tabs', (state) => {
    state.src = state.src.replace(NAMED_BLOCKS, (blocks) => `::: code-group\n\n${blocks}\n:::\n\n`);
  });
}
