import { execFileSync } from 'node:child_process';
import { readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { pageOfEngine, rowsByTable, written } from '../../scripts/write-engines.mjs';
import { ENGINES as REGISTRY } from '../../src/connect/registry.ts';
import { ENGINES } from '../kit/engines.ts';
import { allowed, isList, listsByHand } from './by-hand.ts';
import { treeWithToy } from './toy.ts';

const root = new URL('../../', import.meta.url).pathname;

test.each(Object.entries(written()))('%s lists the engines as they are; if not: npm run format', (path, text) => {
  expect(readFileSync(join(root, path), 'utf8')).toBe(text);
});

/** Tables in which each engine has a row, of a page that may be for several. */
const TABLES = ['README', 'which-lock', 'traits', 'promises', 'topologies'];
const TRANSLATED = ['README.zh-CN', 'which-lock.zh-CN', 'traits.zh-CN'];

/** Rows of such a table that an engine shares with one of another page, or that nobody has written. */
const SHARED: Readonly<Record<string, readonly string[]>> = {
  mysql: ['promises', 'topologies'], // in one row with PostgreSQL
  redlock: ['traits', 'traits.zh-CN'], // those of the engines that it is made of
};

test.each(Object.keys(ENGINES))('the page of %s has its rows of the tables of all engines', (engine) => {
  const page = `docs/backends/${pageOfEngine(engine)}.md`;
  const pages = [page, page.replace(/\.md$/, '.zh-CN.md')];
  const rows = rowsByTable();
  const has = (table: string): boolean => rows[table]?.some((row) => pages.includes(row.page)) ?? false;
  expect([...TABLES, ...TRANSLATED].filter((table) => !has(table))).toEqual(SHARED[engine] ?? []);
});

test.each(Object.entries(REGISTRY))('an address of %s is in the table of the command line', (engine, { schemes }) => {
  const addresses = (rowsByTable().cli ?? []).map(({ row }) => row).join('\n');
  // The locks of memory are those of one process.
  expect(schemes.some((scheme) => addresses.includes(`\`${scheme}:`))).toBe(engine !== 'memory');
});

test('each table has a place, and each place its rows', () => {
  const texts = Object.values(written()).join('\n');
  const places = [...texts.matchAll(/<!-- engines: (\S+) -->/g)].map(([, table]) => table);
  expect(places.sort()).toEqual(Object.keys(rowsByTable()).sort());
});

test('no other file lists engines by hand than those that have a reason', () => {
  expect(
    listsByHand(root).sort(),
    'take the engines from the registry; test/engines/by-hand.ts has the exceptions',
  ).toEqual([...allowed].sort());
});

test('a list of engines is found in code and prose, not where it is written', () => {
  expect(isList("const ALL = ['redis', 'postgres', 'mysql', 'etcd', 'nats'];")).toBe(true);
  expect(isList('It works on Redis, PostgreSQL, ZooKeeper, S3 and MongoDB.')).toBe(true);
  expect(isList('It works on Redis and etcd.')).toBe(false);
  expect(isList('<!-- engines: a -->\nredis, postgres, mysql, etcd, nats\n<!-- end -->')).toBe(false);
});

/** What is asked for where it is not there. */
const MISSING: readonly (readonly [string, RegExp])[] = [
  ['test/backends/toy/engine.ts', /test\/backends\/toy\/engine\.ts is missing/],
  ['docs/backends/toy.md', /no page under docs\/backends is about toy: write docs\/backends\/toy\.md/],
];

const run = (cwd: string, ...args: string[]): string =>
  execFileSync(process.execPath, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

test('a made-up engine works once it has its folder, its page, its row and its tests; all lists of engines have it then', () => {
  using tree = treeWithToy();
  const write = () => run(tree.path, 'scripts/write-engines.mjs');
  for (const [path, said] of MISSING) {
    renameSync(join(tree.path, path), join(tree.path, 'away'));
    expect(write, `without ${path}`).toThrow(said);
    renameSync(join(tree.path, 'away'), join(tree.path, path));
  }
  write();
  const has = (path: string, text: string | RegExp) =>
    expect(readFileSync(join(tree.path, path), 'utf8')).toMatch(text);
  has('README.md', '| Toy | a table of SQLite | [toy](docs/backends/toy.md) |');
  has('README.zh-CN.md', '[toy](docs/backends/toy.md) |');
  has('docs/README.md', '[Toy](backends/toy.md)');
  has('docs/cli.md', '| Toy | `toybox:./toy.db` |');
  has('docs/which-lock.md', '| a toy | [toy](backends/toy.md) |');
  has('docs/promises.md', '| Toy | promise |');
  has('.github/workflows/ci.yml', /engines: \['memory,file,toy'/);
  has('package.json', '"./toy": {\n      "types": "./dist/backends/toy/index.d.ts"');
  const program = `import { connect } from './src/connect/index.ts';
import { rows } from './bench/rows/index.ts';
import { arenas } from './bench/arenas.ts';
import { TORTURED } from './test/torture/tortured.ts';
import { navigation } from './site/navigation.ts';
const locks = await connect('toybox:' + process.cwd() + '/toy.db?prefix=a');
const token = await locks.mutex('k').run((lease) => lease.token);
await locks.close();
const told = async (url) => connect(url).then(() => 'opened', (error) => error.message);
console.log(JSON.stringify({
  token: token > 0n,
  told: [await told('toibox://h1'), await told('h1:4711'), await told('toybox:a.db?a=1')],
  bench: rows.some(({ group }) => group === 'toy') && 'toy' in arenas,
  torture: TORTURED.some(({ name }) => name === 'toy'),
  site: navigation.some(({ pages }) => pages.some(([page, title]) => title === 'Toy')),
}));`;
  expect(
    JSON.parse(run(tree.path, '--disable-warning=ExperimentalWarning', '--input-type=module', '-e', program)),
  ).toEqual({
    token: true,
    told: [
      expect.stringMatching(/there are .*toybox:\.\/toy\.db.*; did you mean toybox:\?$/),
      expect.stringMatching(/did you mean toybox:\/\/h1:4711\?$/),
      expect.stringMatching(/toybox: has no \?a=; there are prefix/),
    ],
    bench: true,
    torture: true,
    site: true,
  });
});
