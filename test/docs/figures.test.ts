import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { COMMANDS } from '../../bench/pages/commands.ts';
import { leftAsTheyWere, readFigures, withResults } from '../../bench/pages/figures.ts';
import { shownIn, tables } from '../../bench/pages/tables.ts';
import { pages, withTables } from '../../bench/pages/write.ts';
import { rows } from '../../bench/rows/index.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const text = (page: string): string => readFileSync(join(root, page), 'utf8');

test.each(pages)('%s has the figures of bench/figures.json, and no others in its tables', (page) => {
  expect(text(page), 'npm run bench -- --publish writes it, or the command that the page names').toBe(
    withTables(page, text(page), readFigures()),
  );
});

test('each figure of a table is one that a command measures: its row, its entry, and a floor where it is a ratio', () => {
  const unknown = Object.values(tables)
    .flatMap(shownIn)
    .filter(({ row, entry, figure }) => {
      const measured = rows.find(({ group, title }) => `${group}: ${title}` === row);
      const named = measured ? measured.entries.some(({ name }) => name === entry) : COMMANDS[row]?.includes(entry);
      return !named || (figure === 'times' && measured?.floor === undefined);
    });
  expect(unknown).toEqual([]);
});

test('a new measurement changes its own row on the page, with its day, and no other', () => {
  const row = rows.find(({ group, title }) => group === 'stock' && title === 'one atomic step, 64 buyers')!;
  const round = (ours: number) => ({ 'one step': { perSecond: ours }, 'bare script': { perSecond: 1_000 } });
  const rounds = [round(1_500), round(2_500), round(9_000)];
  const figures = withResults(readFigures(), [{ row, rounds }], '2031-01-02');
  const before = text('docs/speed.md').split('\n');
  const after = withTables('docs/speed.md', text('docs/speed.md'), figures).split('\n');
  const changed = after.filter((line, i) => line !== before[i]);
  expect(changed).toEqual([
    '| one atomic step, 64 buyers: × a bare script that writes the same records | 2.50 |',
    expect.stringMatching(/^Measured on .* and 2031-01-02\.$/),
  ]);
});

test('a measurement in which nothing happened leaves the page as it is', () => {
  const row = rows.find(({ title }) => title === 'commands a hand-over')!;
  const round = { '10 in line': { commands: 3 }, '5000 in line': { commands: Number.POSITIVE_INFINITY, handOvers: 0 } };
  const results = [{ row, rounds: [round] }];
  expect(withResults(readFigures(), results, '2031-01-02')).toEqual(readFigures());
  expect(leftAsTheyWere(results)).toEqual(['redis: commands a hand-over']);
});

test('a table whose figure is missing is not written', () => {
  expect(() => withTables('docs/speed.md', text('docs/speed.md'), {})).toThrow(/bench\/figures\.json has no times of/);
});

/** They are written by the commands that measured, or keep what was measured for a decision on its day. */
const WRITTEN = /^docs\/(?:decisions\/|evidence|known-bugs|promises)/;
const MEASURED = /\bmeasure[sd]?\b|\bbench\/|测得|测量/i;
const FIGURE = /\d[\d.,]*\s?(?:ms|µs|s|kB|MB|GB|%|×|bytes|字节|毫秒|秒)(?![\w-])/;

/** Sentences outside of tables that commands write, and of code. */
const sentencesOf = (page: string): string[] =>
  page
    .replace(/<!-- figures: .*?<!-- end -->/gs, '')
    .replace(/^```.*?^```/gms, '')
    .replace(/(?<![|\n])\n(?![|\n])/g, ' ')
    .split(/(?<=[.:。：])\s+|(?<=[。：])|\n/);
const typedIn = (page: string): string[] =>
  sentencesOf(page).filter((sentence) => MEASURED.test(sentence) && FIGURE.test(sentence.replace(/`[^`]*`/g, '')));

test.each(
  ['README*.md', 'docs/**/*.md']
    .flatMap((glob) => globSync(glob, { cwd: root, exclude: ['**/node_modules/**'] }))
    .filter((page) => !WRITTEN.test(page))
    .sort(),
)('%s says nothing that was measured but in tables that the commands write', (page) => {
  expect(typedIn(text(page))).toEqual([]);
});

test('a figure that somebody typed is found, and one of a table is not', () => {
  const written = '<!-- figures: sale -->\n\nMeasured: 5 ms.\n\n<!-- end -->\n\n';
  expect(
    typedIn(`${written}It polls every 25 ms.\nAs \`node bench/x.ts\` shows, it takes\n3.9 ms. It is 30 s.`),
  ).toEqual(['As `node bench/x.ts` shows, it takes 3.9 ms.']);
});
