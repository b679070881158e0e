import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { lastArgument, shellWord } from '../../products/ui/page/shell.ts';
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

test('text that may be shown stands in the word as it is', () => {
  expect(shellWord("it's é 中 %s \\n")).toBe(`'it'\\''s é 中 %s \\n'`);
});

test('beside what must not be shown, only what every shell and every locale takes as it is stands as it is', () => {
  expect(shellWord('aZ_0./:@+, \u001b')).toBe(`"$(printf 'aZ_0./:@+, \\033')"`);
  expect(shellWord("'%\\é\u00ff\u0100中\u001b")).toBe(`"$(printf '\\047\\045\\134\\303\\251\\303\\277\u0100中\\033')"`);
});

test('a key that begins with a dash is the last argument, and no option', () => {
  expect(lastArgument('-rf')).toBe("-- '-rf'");
  expect(lastArgument('orders-')).toBe("'orders-'");
});
