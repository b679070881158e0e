/** `llms.txt`: every page with its title and first sentence, for programs that read. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { navigation } from './navigation.ts';
import { addressOf, root } from './pages.ts';

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
  const text = readFileSync(join(root, page), 'utf8').replace(/^```.*?^```/gms, '');
  const title = /^# (.+)$/m.exec(text)?.[1] ?? page;
  const paragraph = text
    .split(/\n{2,}/)
    .map((block) => block.trim())
    .find(isProse);
  const line = plain(paragraph ?? '').replace(/\s+/g, ' ');
  let sentence = '';
  for (const part of line.split(/(?<=[.?!])\s+/)) {
    if (sentence.length < TELLS_ENOUGH) sentence = `${sentence} ${part}`.trim();
  }
  return { title: plain(title), sentence: sentence.replace(/:$/, '.') };
}

/** @param base the folder of the host that the site is in, with its slashes */
export function llmsText(base = '/'): string {
  const front = titleAndSentence('README.md');
  const sections = navigation.map(({ name, pages }) => {
    const lines = pages.map(([page]) => {
      const { title, sentence } = titleAndSentence(page);
      return `- [${title}](${base}${addressOf(page).slice(1)})${sentence === '' ? '' : `: ${sentence}`}`;
    });
    return `## ${name}\n\n${lines.join('\n')}\n`;
  });
  return `# ${front.title}\n\n> ${front.sentence}\n\n${sections.join('\n')}`;
}

export const writeLlms = (folder: string, base: string): void =>
  writeFileSync(join(folder, 'llms.txt'), llmsText(base));
