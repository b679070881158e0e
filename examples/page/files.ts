import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

export interface File {
  readonly type: string;
  readonly body: string | Uint8Array;
}

const here = (path: string): URL => new URL(`./app/${path}`, import.meta.url);

/** What the page consists of, by path. */
export async function files(): Promise<ReadonlyMap<string, File>> {
  const { outputFiles } = await build({
    entryPoints: ['main.tsx', 'page.css'].map((name) => fileURLToPath(here(name))),
    outdir: fileURLToPath(here('.')), // of which only the names are used
    bundle: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    minify: true,
    logLevel: 'silent', // a failure is thrown, with all of it
  });
  return new Map([
    ['/', { type: 'text/html', body: await readFile(here('page.html')) }],
    ['/page.css', { type: 'text/css', body: outputFiles[1]!.contents }],
    ['/icon.svg', { type: 'image/svg+xml', body: await readFile(here('icon.svg')) }],
    ['/page.js', { type: 'text/javascript', body: outputFiles[0]!.contents }],
  ]);
}
