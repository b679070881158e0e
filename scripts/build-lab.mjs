// `npm run lab`: the sources and the simulation of the tests as a static page in `dist-lab`, to be opened as a file or put on any
// static server. Another folder: `npm run lab -- <folder>`.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const lab = fileURLToPath(new URL('../lab/', import.meta.url));
const standIn = (name) => join(lab, 'browser', `${name}.ts`);

/**
 * @param {string} folder
 * @param {boolean} besidePages whether the documentation is in the folder above, so that the lab can lead back to it
 */
export async function buildLab(folder, besidePages = false) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await build({
    entryPoints: [
      { in: join(lab, 'page/main.tsx'), out: 'lab' },
      { in: join(lab, 'page/lab.css'), out: 'lab' },
    ],
    outdir: folder,
    bundle: true,
    minify: true,
    charset: 'utf8',
    format: 'iife', // a page that is opened as a file loads no modules
    target: ['chrome123', 'firefox121', 'safari17.5'],
    supported: { 'async-await': false, 'async-generator': false, 'for-await': false }, // lab/browser/async-hooks.ts
    jsx: 'automatic',
    jsxImportSource: 'preact',
    inject: [standIn('globals')],
    alias: {
      'node:async_hooks': standIn('async-hooks'),
      'node:crypto': standIn('crypto'),
      'node:diagnostics_channel': standIn('diagnostics-channel'),
      'node:os': standIn('os'),
      'node:timers': standIn('timers'),
      'node:timers/promises': standIn('timers'),
      'node:util': standIn('util'),
    },
    legalComments: 'none',
    logLevel: 'warning',
  });
  const page = readFileSync(join(lab, 'page/index.html'), 'utf8');
  writeFileSync(join(folder, 'index.html'), besidePages ? page.replace('<html', '<html data-pages') : page);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = resolve(process.argv[2] ?? 'dist-lab');
  await buildLab(folder, process.argv.includes('--beside-pages'));
  console.log(`Open ${join(folder, 'index.html')}`);
}
