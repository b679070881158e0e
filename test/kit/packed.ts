import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('../..', import.meta.url));

export interface Packed {
  /** Its path. */
  readonly tarball: string;
  /** What is in it. */
  readonly files: readonly string[];
}

/** What packing needs, besides the pages that are packed. */
const SOURCES = ['package.json', 'tsconfig.json', 'tsconfig.build.json', 'scripts', 'src', 'docs', 'LICENSE'];

/** Makes the package in a folder, by `npm pack`, from what is in the sources now; `dist` of the repository is left as it is. */
export async function packed(folder: string): Promise<Packed> {
  const copy = join(folder, 'package');
  mkdirSync(copy);
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { files: string[] };
  for (const name of [...SOURCES, ...manifest.files.filter((file) => /^\w.*\.md$/.test(file))])
    cpSync(join(root, name), join(copy, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  const { stdout } = await promisify(execFile)('npm', ['pack', '--json', '--foreground-scripts=false'], { cwd: copy });
  const [{ filename, files }] = JSON.parse(stdout) as [{ filename: string; files: { path: string }[] }];
  return { tarball: join(copy, filename), files: files.map(({ path }) => path) };
}
