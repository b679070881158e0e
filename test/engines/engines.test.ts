import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ENGINES, type EngineRow } from '../kit/engines.ts';
import { temporaryFolder } from '../kit/folder.ts';
import { type Engine, names, places } from './places.ts';

const root = new URL('../../', import.meta.url).pathname;
const engines = Object.entries(ENGINES).map(([name, row]): Engine => ({ name, ...(row as EngineRow) }));

test.each(engines)('every place that has to name $name does so, or a reason is given', (engine) => {
  const { absent = {} } = engine;
  const without = places.filter((place) => !names(root, place, engine));
  expect(without, 'the places that do not name it').toEqual(places.filter((place) => place in absent));
  expect(
    Object.keys(absent).filter((place) => !places.includes(place)),
    'reasons for what is no place',
  ).toEqual([]);
});

test('CONTRIBUTING lists these places, and no other', () => {
  const section = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8').split(/^## /m).at(-1)!;
  expect(section).toMatch(/^To add an engine\n/);
  const listed = [...section.matchAll(/^\| `([^`]+)` \|/gm)].map(([, place]) => place);
  expect(listed).toEqual(places);
});

/** What one writes for a new engine before anything asks for more: its folder, its address, and its line in the registry. */
function addToy(tree: string): void {
  const edit = (path: string, change: (text: string) => string): void =>
    writeFileSync(join(tree, path), change(readFileSync(join(root, path), 'utf8')));
  cpSync(join(root, 'src/backends/memory.ts'), join(tree, 'src/backends/toy.ts'));
  writeFileSync(
    join(tree, 'src/connect/engines/toy.ts'),
    `import { memory } from '../../backends/toy.ts';
import { type EngineUrl, openEngine } from '../engine.ts';

export const toyUrl: EngineUrl = {
  schemes: ['toybox'],
  example: 'toybox://h1',
  ports: { 4711: 'toybox' },
  params: ['prefix'],
  open: async (address) => openEngine(address, memory()),
};
`,
  );
  edit('src/connect/registry.ts', (text) =>
    text
      .replace(/^import/, "import { toyUrl } from './engines/toy.ts';\nimport")
      .replace('  zookeeper: zookeeperUrl,\n', '  zookeeper: zookeeperUrl,\n  toy: toyUrl,\n'),
  );
}

function treeWithToy() {
  const folder = temporaryFolder();
  for (const path of [
    'src',
    'products',
    'api',
    'docs',
    'site',
    'test',
    'bench',
    '.github',
    'package.json',
    'README.md',
    'tsconfig.json',
  ])
    cpSync(join(root, path), join(folder.path, path), {
      recursive: true,
      filter: (from) => !/\/(results|\.vitepress)\b/.test(from),
    });
  symlinkSync(join(root, 'node_modules'), join(folder.path, 'node_modules'));
  addToy(folder.path);
  return folder;
}

test('a made-up engine works once it has its folder, its address and its line in the registry; each further place is asked for', () => {
  using tree = treeWithToy();
  const program = `import { connect } from './src/connect/index.ts';
const locks = await connect('toybox://h1?prefix=a');
const token = await locks.mutex('k').run((lease) => lease.token);
await locks.close();
const told = async (url) => connect(url).then(() => 'opened', (error) => error.message);
console.log(JSON.stringify([\`\${token}\`, await told('toibox://h1'), await told('h1:4711'), await told('toybox://h1?a=1')]));`;
  const printed = execFileSync(process.execPath, ['--input-type=module', '-e', program], {
    cwd: tree.path,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  expect(JSON.parse(printed)).toEqual([
    '1',
    expect.stringMatching(/there are .*toybox:\/\/h1.*; did you mean toybox:\?$/),
    expect.stringMatching(/did you mean toybox:\/\/h1:4711\?$/),
    expect.stringMatching(/toybox: has no \?a=; there are prefix/),
  ]);

  const toy = { name: 'toy' };
  const done = ['src/backends/<name>', 'src/connect/registry.ts'];
  expect(places.filter((place) => names(tree.path, place, toy))).toEqual(done);
});

test('the compiler asks for the row of a made-up engine in the kit', () => {
  using tree = treeWithToy();
  const config = JSON.stringify({ extends: './tsconfig.json', include: [], files: ['test/kit/engines.ts'] });
  writeFileSync(join(tree.path, 'tsconfig.toy.json'), config);
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const { status, stdout } = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.toy.json'], {
    cwd: tree.path,
    encoding: 'utf8',
  });
  expect(status).not.toBe(0);
  expect(stdout).toMatch(/^test\/kit\/engines\.ts\(.*Property 'toy' is missing/);
});
