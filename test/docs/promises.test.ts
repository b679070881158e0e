/** No promise without what shows it: a test or a run, by its name, or the words that there is none. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { HOSTED_SITES } from '../hosts/sites.ts';
import { OWNED } from '../torture/owner/owned.ts';
import { TORTURED } from '../torture/tortured.ts';

const root = new URL('../../', import.meta.url).pathname;
const pageOf = (name: string): string => readFileSync(join(root, 'docs', name), 'utf8');

/** The cells of the rows of a section, without its head. */
function rowsOf(page: string, section: string): string[][] {
  const [, rest = ''] = page.split(`\n## ${section}\n`);
  const lines = rest
    .split('\n## ')[0]!
    .split('\n')
    .filter((line) => line.startsWith('|'));
  return lines.slice(2).map((line) =>
    line
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

const REPORT = pageOf('evidence/promises.md');
const SHOWN = /\[\*[^\]]+\*\]\([^)]+\)|`test\/[\w/.-]+`|`npm run prove [^`]+`/;

test.each([
  'On every engine',
  'Memos',
  'Frameworks',
  'Stock',
])('each promise of %s names a test or a run', (section) => {
  const rows = rowsOf(REPORT, section).filter(([name]) => name!.startsWith('**'));
  expect(rows.length).toBeGreaterThan(3);
  expect(rows.filter(([, shown]) => !SHOWN.test(shown!)).map(([name]) => name)).toEqual([]);
});

test('each folder of tests that a promise names is there', () => {
  const named = [...REPORT.matchAll(/`((?:test|bench)\/[\w/.-]+)`/g)].map(([, path]) => path!);
  expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

/** The runs of each kind, and the report with their results. */
const KINDS = [
  { runs: TORTURED.map(({ name }) => name), file: 'evidence/torture.md' },
  { runs: Object.keys(HOSTED_SITES), file: 'evidence/hosts.md' },
  { runs: OWNED.map(({ name }) => name), file: 'evidence/owner.md' },
] as const;

const TOPOLOGIES = rowsOf(REPORT, 'Topologies and their runs');

test('each engine of the promises names its topology, and its runs or that there is none', () => {
  const engines = rowsOf(pageOf('promises.md'), 'By engine').map(([engine]) => engine);
  expect(engines.length).toBeGreaterThan(10);
  expect(TOPOLOGIES.map(([engine]) => engine)).toEqual(engines);
  for (const [engine, topology, ...cells] of TOPOLOGIES) {
    expect(topology, engine).toMatch(/\w/);
    expect(
      cells.filter((cell) => !/^(`|no run)/.test(cell)),
      engine,
    ).toEqual([]);
  }
});

test('each run that is named is there, and has its results in the report', () => {
  for (const [i, { runs, file }] of KINDS.entries()) {
    const named = TOPOLOGIES.flatMap((cells) => [...cells[i + 2]!.matchAll(/`([^`]+)`/g)].map(([, name]) => name!));
    expect(
      named.filter((name) => !runs.includes(name)),
      file,
    ).toEqual([]);
    const report = pageOf(file);
    expect(
      named.filter((name) => !report.includes(`\n| ${name} |`)),
      `${file}: no results`,
    ).toEqual([]);
  }
});

test('each run that there is shows a promise', () => {
  const cells = TOPOLOGIES.flat().join(' ');
  const unnamed = [...KINDS[0].runs, ...KINDS[1].runs].filter((name) => !cells.includes(`\`${name}\``));
  // What `nats-cluster` is on loopback, `nats` is on hosts.
  expect(unnamed.filter((name) => !/^(mongodb|nats-cluster|.*-by-node-redis)$/.test(name))).toEqual([]);
});
