import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { shellWord } from '../../src/core/contract/shell.ts';
import { visible } from '../../src/core/contract/visible.ts';

const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.string({
    unit: fc.constantFrom(
      "'",
      '"',
      '$',
      '`',
      '\\\\',
      '%',
      '\n',
      '\u001b',
      '\u202e',
      '!',
      '*',
      '-',
      '(',
      'a',
      '0',
      '7',
      'é',
      '中',
      '😀',
    ),
    maxLength: 12,
  }),
);

test('a word for a shell means the text, whatever is in it, and shows nothing that steers a terminal', () => {
  const texts = fc
    .sample(text, { numRuns: 300, seed: 7 })
    .filter((each) => !each.includes('\0') && each.isWellFormed());
  const script = texts.map((each) => `printf '%s\\0' ${shellWord(each)}`).join('\n');
  const said = execFileSync('sh', ['-c', script], { encoding: 'utf8' }).split('\0').slice(0, -1);
  expect(said).toEqual(texts);
  for (const each of texts)
    expect(visible(shellWord(each).replace(/'\n+'$/, '')), each).toBe(shellWord(each).replace(/'\n+'$/, ''));
});
