/** `llms.txt`: every page with its title and first sentence, for programs that read. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { navigation, type Section } from './navigation.ts';
import { root } from './pages.ts';
import { textAddressOf } from './texts.ts';

/** Without links and emphasis; names in code stay as they are. */
const plain = (markdown: string): string =>
  markdown
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/^- /, '')
    .replaceAll('**', '')
    .replace(/(?<![\w*])\*([^*]+)\*(?![\w*])/g, '$1');

/** Headings, tables, pictures, and lists of links say nothing by themselves. */
const isProse = (block: string): boolean => /^[^#|<!\s]/.test(block) && !block.includes(' · [');

/** Shorter than this a sentence only leads to the next one. */
const TELLS_ENOUGH = 50;

/** A page's title, and the sentence or two that say what it is about. */
export function titleAndSentence(page: string): { readonly title: string; readonly sentence: string } {
  const text = readFileSync(join(root, page), 'utf8')
    .replace(/^---\n.*?^---\n/ms, '')
    .replace(/^```.*?^```/gms, '');
  const title = /^# (.+)$/m.exec(text)?.[1] ?? page;
  const paragraph = text
    .split(/\n{2,}/)
    .map((block) => block.trim())
    .find(isProse);
  const line = plain(paragraph ?? '').replace(/\s+/g, ' ');
  let sentence = '';
  for (const part of line.split(/(?<=[.?!])\s+|(?<=[。！？])/)) {
    if (sentence.length < TELLS_ENOUGH) sentence = `${sentence} ${part}`.trim();
  }
  return { title: plain(title), sentence: sentence.replace(/:$/, '.').replace(/：$/, '。') };
}

/**
 * @param generated the pages of the reference, which stand in no navigation
 * @param base the folder of the host that the site is in, with its slashes
 */
function llmsText(generated: Section['pages'], base: string): string {
  const front = titleAndSentence('README.md');
  const sections = [...navigation, { name: 'Exports', pages: generated }].map(({ name, pages }) => {
    const lines = pages.map(([page]) => {
      const { title, sentence } = titleAndSentence(page);
      return `- [${title}](${base}${textAddressOf(page).slice(1)})${sentence === '' ? '' : `: ${sentence}`}`;
    });
    return `## ${name}\n\n${lines.join('\n')}\n`;
  });
  return `# ${front.title}\n\n> ${front.sentence}\n\n${sections.join('\n')}`;
}

export const writeLlms = (folder: string, generated: Section['pages'], base: string): void =>
  writeFileSync(join(folder, 'llms.txt'), llmsText(generated, base));
