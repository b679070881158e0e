/** Mermaid blocks become pictures when the site is built: a reader's browser loads no renderer. */
import { renderMermaidSVG } from 'beautiful-mermaid';
import type { MarkdownRenderer } from 'vitepress';

const COLOURS = { bg: 'var(--vp-c-bg)', fg: 'var(--vp-c-text-1)', transparent: true };

/**
 * Its style names a web font, and a page's template may hold no style: `theme/style.css` has the rules.
 * @param label what a screen reader says instead of the picture
 */
function drawn(source: string, label: string): string {
  const svg = renderMermaidSVG(source, COLOURS).replace(/<style>[\s\S]*?<\/style>/, '');
  const missing = missingWords(source, svg);
  if (missing.length > 0) throw new Error(`The diagram of “${label}” does not show: ${missing.join('; ')}`);
  return `<figure class="diagram" role="img" aria-label="${label}" v-pre>${svg.replace(/\n\s*\n/g, '\n')}</figure>\n`;
}

/** The renderer passes over what it does not understand. A picture without some of its words would say something else. */
function missingWords(source: string, svg: string): string[] {
  const shown = svg
    .replace(/<[^>]*>/g, ' ')
    .replace(/&quot;/g, '"')
    .replace(/&#39;|&apos;/g, "'")
    .replace(/&gt;/g, '>');
  return [...source.matchAll(/"([^"]+)"/g)].map(([, label]) => label!).filter((label) => !shown.includes(label));
}

export function diagrams(md: MarkdownRenderer): void {
  const fence = md.renderer.rules.fence!;
  md.renderer.rules.fence = (tokens, index, ...rest) => {
    const { info, content } = tokens[index]!;
    if (info.trim() !== 'mermaid') return fence(tokens, index, ...rest);
    const heading = tokens.findLastIndex(({ type }, i) => i < index && type === 'heading_open');
    return drawn(content, md.utils.escapeHtml(tokens[heading + 1]?.content ?? 'Diagram'));
  };
}
