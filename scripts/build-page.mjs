// Makes the page of `holdfast ui` out of products/ui/page: one script with all that it needs, its styles, its frame and its icon.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, stop } from 'esbuild';

const root = fileURLToPath(new URL('../', import.meta.url));
const source = join(root, 'products/ui/page');

/** What is in the script that others have written: their licences ask to be kept. */
const OTHERS = ['preact', '@preact/signals', '@preact/signals-core'];

/** @returns the files by their names */
export async function bundle() {
  const licences = OTHERS.map((name) => {
    const { version } = JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8'));
    return `${name} ${version}\n\n${readFileSync(join(root, 'node_modules', name, 'LICENSE'), 'utf8').trim()}`;
  });
  const { outputFiles } = await build({
    entryPoints: [join(source, 'page.tsx'), join(source, 'page.css')],
    outdir: source,
    bundle: true,
    write: false,
    minify: true,
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    banner: { js: `/*! This has in it:\n\n${licences.join('\n\n\n')}\n*/` },
    logLevel: 'error',
  });
  await stop(); // its process would go on with that of `holdfast ui`
  const made = outputFiles.map(({ path, contents }) => [path.split(/[\\/]/).at(-1), contents]);
  const kept = ['page.html', 'icon.svg'].map((name) => [name, readFileSync(join(source, name))]);
  return Object.fromEntries([...made, ...kept]);
}
