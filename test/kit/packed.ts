import { execFile } from 'node:child_process';
import { cpSync, globSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
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

/** The package: the tarball in the folder that the variable `TARBALL` names, as before a release, or what `built` makes. */
export async function packed(folder: string): Promise<Packed> {
  const given = process.env.TARBALL;
  if (given === undefined) return built(folder);
  const [tarball, ...others] = globSync(join(root, given, '*.tgz'));
  if (!tarball || others.length > 0)
    throw new Error(`TARBALL names a folder with one tarball; ${given} has another number`);
  return pack(folder, tarball);
}

/** Makes the package in a folder, by `npm pack`, from what is in the sources now; `dist` of the repository is left as it is. */
export async function built(folder: string): Promise<Packed> {
  const copy = join(folder, 'package');
  mkdirSync(copy);
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { files: string[] };
  for (const name of [...SOURCES, ...manifest.files.filter((file) => /^\w.*\.md$/.test(file))])
    cpSync(join(root, name), join(copy, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  return pack(copy, '.');
}

async function pack(cwd: string, what: string): Promise<Packed> {
  const { stdout } = await promisify(execFile)('npm', ['pack', what, '--json', '--foreground-scripts=false'], { cwd });
  const [{ filename, files }] = JSON.parse(stdout) as [{ filename: string; files: { path: string }[] }];
  return { tarball: join(cwd, filename), files: files.map(({ path }) => path) };
}
