// Checks the package as `npm publish` would send it: what it weighs, how quickly it loads, that its exports and types resolve, and that
// another build in another folder gives the same bytes.
// It reads `dist`, so build first.

import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { build } from 'esbuild';
import { copySources } from './copy-sources.mjs';
import { write } from './packed-pages.mjs';

const root = fileURLToPath(new URL('../', import.meta.url));

/** What the package may cost. `load` is a multiple of what `node:crypto` takes to load in the same run: that grows with the machine's load, too. */
const BUDGETS = { files: 300, packed: 600_000, gzipped: 57_500, load: 5.5 };
/** Each round is a fresh process for each contestant, in turn. */
const ROUNDS = 15;
const TRIES = 3;

const median = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1];

/** How long a fresh process needs to import these modules, ms. */
function loading(modules) {
  const imports = modules.map((name) => `await import(${JSON.stringify(name)});`).join('');
  const program = `const began = performance.now(); ${imports} console.log(performance.now() - began);`;
  return Number(execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' }));
}

/** The import of the core and one engine, over that of an empty module. */
function loadTime(folder) {
  const empty = join(folder, 'empty.mjs');
  writeFileSync(empty, 'export {};\n');
  const url = (path) => pathToFileURL(path).href;
  const contestants = {
    floor: [url(empty)],
    yardstick: ['node:crypto'],
    ours: [url(join(root, 'dist/index.js')), url(join(root, 'dist/backends/redis/index.js'))],
  };
  const times = { floor: [], yardstick: [], ours: [] };
  for (let round = 0; round < ROUNDS; round++)
    for (const [name, modules] of Object.entries(contestants)) times[name].push(loading(modules));
  const floor = median(times.floor);
  const ms = median(times.ours) - floor;
  return { ms, ratio: ms / (median(times.yardstick) - floor) };
}

/** The core and one engine as a bundler for a small program makes them. */
async function gzipped() {
  const { outputFiles, metafile } = await build({
    stdin: {
      contents: "export * from './dist/index.js'; export * from './dist/backends/redis/index.js';",
      resolveDir: root,
    },
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    splitting: true,
    metafile: true,
    outdir: join(root, 'bundled'), // nothing is written
    absWorkingDir: root,
  });
  // What is imported when it is needed does not count.
  const needed = new Set(
    Object.keys(metafile.outputs).filter((name) => metafile.outputs[name].entryPoint === '<stdin>'),
  );
  for (const name of needed)
    for (const { path, kind } of metafile.outputs[name].imports)
      if (kind === 'import-statement' && metafile.outputs[path]) needed.add(path);
  const contents = outputFiles.filter(({ path }) => needed.has(relative(root, path).replaceAll('\\', '/')));
  return contents.reduce((sum, file) => sum + gzipSync(file.contents, { level: 9 }).length, 0);
}

const problems = [];
const within = (what, is, most) => {
  console.log(`${what}: ${is} of ${most}`);
  if (is > most) problems.push(`${what} is ${is}, over the budget of ${most} in scripts/check-package.mjs`);
};

const folder = mkdtempSync(join(tmpdir(), 'holdfast-package-'));
try {
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const pack = (cwd, ...more) =>
    JSON.parse(execFileSync(npm, ['pack', '--json', ...more], { cwd, encoding: 'utf8' }))[0];
  const here = join(folder, 'with this dist');
  mkdirSync(here);
  copySources(here);
  cpSync(join(root, 'dist'), join(here, 'dist'), { recursive: true });
  write(here);
  const { filename, size, files } = pack(here, '--ignore-scripts', '--pack-destination', folder);
  within('files', files.length, BUDGETS.files);
  within('bytes packed', size, BUDGETS.packed);
  within('bytes of the core and Redis, minified and gzipped', await gzipped(), BUDGETS.gzipped);
  let load = loadTime(folder);
  for (let tries = 1; load.ratio > BUDGETS.load && tries < TRIES; tries++) load = loadTime(folder);
  console.log(`import of the core and Redis: ${load.ms.toFixed(1)} ms over an empty module`);
  within('its multiple of the import of node:crypto', Number(load.ratio.toFixed(2)), BUDGETS.load);
  const tarball = join(folder, filename);
  const elsewhere = join(folder, 'another folder');
  mkdirSync(elsewhere);
  copySources(elsewhere);
  pack(elsewhere, '--foreground-scripts=false'); // builds
  if (!readFileSync(join(elsewhere, filename)).equals(readFileSync(tarball)))
    problems.push('another build in another folder gives other bytes, or `dist` is not what the sources give');
  const publint = [join(root, 'node_modules/publint/src/cli.js'), 'run', tarball, '--strict'];
  const { status, stdout } = spawnSync(process.execPath, publint, { encoding: 'utf8' });
  if (status !== 0) problems.push(`publint complains:\n${stdout}`);
  const types = await checkPackage(createPackageFromTarballData(readFileSync(tarball)));
  // The package is ESM only: how CommonJS and older Node find its types is not asked.
  const asked = (types.problems || []).filter(
    ({ resolutionKind: kind }) => !kind || /^(node16-esm|bundler)$/.test(kind),
  );
  for (const problem of asked) problems.push(`the types of the tarball: ${JSON.stringify(problem)}`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;
