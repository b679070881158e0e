// All that packing needs, in another folder: `npm pack` makes the package there, and `dist` here stays as it is.
import { cpSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));

/** What packing needs, besides the pages that are packed. npm packs each README, whatever the manifest says. */
const SOURCES = [
  'package.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'scripts',
  'src',
  'docs',
  'LICENSE',
  'README.zh-CN.md',
];

export function copySources(folder) {
  const { files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  for (const name of [...SOURCES, ...files.filter((file) => /^\w.*\.md$/.test(file))])
    cpSync(join(root, name), join(folder, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
}
