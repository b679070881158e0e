import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** What readers of English as a second language have to read twice, and what to write. */
const HARD: readonly [words: RegExp, instead: string][] = [
  [/\bwho(m)?ever\b/i, 'a caller that …, the next holder'],
  [/(?:^|[.:;|] |- |\*\*)Who (?!(?:gives up|waits)\b)[a-z]+ .*[^?]$/, 'a caller that …'],
  [/\banew\b/i, 'again, from scratch'],
  [/\bshall\b/i, 'should, may, will'],
  [/\bover all processes\b/i, 'across all processes'],
  [/\bso many\b/i, 'at most n, a limited number of'],
  [/\bdear\b/i, 'costly, expensive'],
  [/\b(the like of|and the like|(its|their) kin)\b/i, 'the name of the thing'],
  [/\bthe way round\b/i, 'the circle'],
  [/\bNor (is|are|does|do)\b/, 'a sentence of its own, with not'],
  [/\b(is|are|was|were) told of\b|\bhears? of\b/i, 'finds out, is notified'],
  [/\bmeanwhile\b/i, 'in the meantime, in that time'],
];

/** They are for contributors, or quote titles of tests and words of others. */
const NOT_READ = /^(CHANGELOG\.md|docs\/(known-bugs|evidence|promises))/;
const pages = ['*.md', 'docs/**/*.md']
  .flatMap((glob) => globSync(glob, { cwd: root }))
  .filter((page) => !page.endsWith('.zh-CN.md') && !NOT_READ.test(page))
  .sort();

/** Code stays as long as it was, so that lines keep their numbers. */
const prose = (text: string): string =>
  text
    .replace(/^```.*?^```/gms, (block) => block.replace(/[^\n]/g, ' '))
    .replace(/`[^`\n]*`/g, (code) => ' '.repeat(code.length));

const hardWordsIn = (text: string): string[] =>
  prose(text)
    .split('\n')
    .flatMap((line, i) =>
      HARD.filter(([words]) => words.test(line)).map(
        ([words, instead]) => `${i + 1}: ${words.exec(line)![0].slice(0, 60)} → ${instead}`,
      ),
    );

test.each(pages)('%s uses none of the words that have to be read twice', (page) => {
  expect(hardWordsIn(readFileSync(join(root, page), 'utf8'))).toEqual([]);
});

test('a hard word is found in prose, and not in code', () => {
  expect(hardWordsIn('Whoever holds\n`whoever`\n```\nanew\n```\nstarts anew')).toEqual([
    '1: Whoever → a caller that …, the next holder',
    '6: anew → again, from scratch',
  ]);
});
