import { execFile } from 'node:child_process';
import { globSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { copySources } from '../../scripts/copy-sources.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));

export interface Packed {
  /** Its path. */
  readonly tarball: string;
  /** What is in it. */
  readonly files: readonly string[];
}

/** The package: the tarball in the folder that the variable `TARBALL` names, as before a release, or what `built` makes. */
export async function packedPackage(folder: string): Promise<Packed> {
  const given = process.env.TARBALL;
  if (given === undefined) return buildPackage(folder);
  const [tarball, ...others] = globSync(join(root, given, '*.tgz'));
  if (!tarball || others.length > 0)
    throw new Error(`TARBALL names a folder with one tarball; ${given} has another number`);
  return pack(folder, tarball);
}

/** Makes the package in a folder, by `npm pack`, from what is in the sources now; `dist` of the repository is left as it is. */
export async function buildPackage(folder: string): Promise<Packed> {
  const copy = join(folder, 'package');
  mkdirSync(copy);
  copySources(copy);
  return pack(copy, '.');
}

async function pack(cwd: string, what: string): Promise<Packed> {
  const { stdout } = await promisify(execFile)('npm', ['pack', what, '--json', '--foreground-scripts=false'], { cwd });
  const [{ filename, files }] = JSON.parse(stdout) as [{ filename: string; files: { path: string }[] }];
  return { tarball: join(cwd, filename), files: files.map(({ path }) => path) };
}
