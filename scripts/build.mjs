// `npm run build`: the package in `dist`. Each entry is one file, and what several entries need is in `dist/chunks`; the types of each
// entry are one file, too. Comments stay in the types only. There are no maps and no sources beside them: the code stays readable.
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { dts } from 'rolldown-plugin-dts';
import { bundle } from './build-page.mjs';
import { placeInDist, sourceOf } from './sources.mjs';

const root = fileURLToPath(new URL('../', import.meta.url));
const dist = join(root, 'dist');

/** Programs that the package starts as processes or threads of their own. */
const PROGRAMS = ['cli/main', 'cli/demo/worker', 'torture/process/worker', 'connect/renewal/worker'];

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
/** The entries by where they are in `dist`, without an ending. */
const exported = Object.values(manifest.exports)
  .map(({ default: file }) => file)
  .filter(Boolean)
  .map((file) => /^\.\/dist\/(.*)\.js$/.exec(file)[1]);

/**
 * Wherever the bundle puts a module, what it names by `new URL('./a.ts', import.meta.url)` is found from there, and a reader of the
 * package sees a file of it: bundlers look for each such file, and end where there is none.
 */
const ownPlaces = {
  name: 'own-places',
  transform(code, id) {
    if (placeInDist(id).startsWith('../')) return undefined; // it is no source of ours
    const own = /new URL\('([^']+)', import\.meta\.url\)/g;
    if (code.replace(own, '').includes('import.meta'))
      throw new Error(
        `${id} must name its files by new URL('./a.ts', import.meta.url): the package has them elsewhere`,
      );
    return code.replace(own, (_, path) => {
      const place = placeInDist(join(dirname(id), path));
      return `new URL(__PLACE_OF__(${JSON.stringify(place.replace(/\.ts$/, '.js'))}), import.meta.url)`;
    });
  },
  renderChunk(code, { fileName }) {
    if (!code.includes('__PLACE_OF__')) return undefined;
    const place = (_, text) => {
      const path = relative(dirname(fileName), text).replaceAll('\\', '/');
      return JSON.stringify(path.startsWith('.') ? path : `./${path}`);
    };
    const told = code.replace(/__PLACE_OF__\("([^"]+)"\)/g, place);
    // By this name webpack makes the file of a thread a part of the bundle. By the other, 5.113 makes a call of what is no function.
    return { code: told.replace('"node:worker_threads"', '"worker_threads"'), map: null };
  },
};

/** The files of the page, as text in a module: in a bundle there is no folder beside it. */
const page = {
  name: 'page',
  async load(id) {
    if (placeInDist(id) !== 'ui/files.ts') return undefined;
    const texts = Object.entries(await bundle()).map(([name, contents]) => [name, Buffer.from(contents).toString()]);
    return `export const files = async () => (${JSON.stringify(Object.fromEntries(texts))});`;
  },
};

/** What is always loaded together is one file: each file more costs more to load than its code. */
const GROUPS = [
  { name: 'core', test: /src[\\/](core|primitives|leading|once|waits|locks\.ts)/ },
  { name: 'shared', test: /src[\\/]backends[\\/]shared[\\/]/ },
  { name: 'redis', test: /src[\\/]backends[\\/]redis[\\/](?!check|clocks|dangers|inspect|sharded-channel)/ },
];

/** Each entry with its source below `folder`. */
const input = (folder, names, ending) =>
  Object.fromEntries(names.map((name) => [name, sourceOf(`${name}${ending}`, folder)]));
/** Packages stay imports: they are the user's own. What the compiler adds itself (for `using`) is part of the bundle. */
const external = (id) => !/^[./\\\0]|^@oxc-project\/|^[A-Z]:/i.test(id);

async function scripts() {
  const made = await rolldown({
    input: input(root, [...exported, ...PROGRAMS], '.ts'),
    external,
    platform: 'node',
    transform: { target: 'es2023' }, // the oldest Node that is promised has no `using`
    plugins: [page, ownPlaces],
    experimental: { attachDebugInfo: 'none' }, // else the place of each module stands in the code
    // Only the programs do something when they are loaded.
    treeshake: {
      moduleSideEffects: (id) => /^(cli\/|torture\/|connect\/renewal\/worker\.ts$)/.test(placeInDist(id)),
    },
  });
  await made.write({
    dir: dist,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name].js',
    comments: false,
    codeSplitting: { groups: GROUPS },
    minify: false,
  });
  await made.close();
}

async function types() {
  const folder = join(dist, '.types');
  try {
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    const { status } = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.build.json', '--outDir', folder], {
      cwd: root,
      stdio: 'inherit',
    });
    if (status !== 0) throw new Error('the types were not made');
    const made = await rolldown({
      input: input(folder, exported, '.d.ts'),
      external,
      plugins: [dts({ dtsInput: true })],
      experimental: { attachDebugInfo: 'none' }, // as in the scripts
    });
    await made.write({ dir: dist, format: 'esm', entryFileNames: '[name].ts', chunkFileNames: 'chunks/[name].ts' });
    await made.close();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What programs read beside their code. */
function beside() {
  copyFileSync(sourceOf('cli/holdfast'), join(dist, 'cli/holdfast'));
  chmodSync(join(dist, 'cli/holdfast'), 0o755);
}

rmSync(dist, { recursive: true, force: true });
await scripts();
await types();
beside();
