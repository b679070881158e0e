import { cpSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../sources/command.ts';

const root = join(import.meta.dirname, '..', '..', '..');
/** Where clients are whose parts have to be of one version, below the folder of the others. */
export const OLDEST = 'oldest';

/**
 * The clients of `packages.json`, beside the package as it is built here and the programs that open them. Several versions of one are
 * there under other names, or, in `oldest`, under their own.
 * @returns the folder
 */
export function installed(cache: string): string {
  const folder = join(cache, 'clients');
  install('packages.json', folder);
  install('packages-oldest.json', join(folder, OLDEST));
  const here = join(folder, 'node_modules', 'holdfast');
  rmSync(here, { recursive: true, force: true });
  run(process.execPath, [join(root, 'scripts', 'build.mjs')], { cwd: root });
  for (const part of ['dist', 'package.json']) cpSync(join(root, part), join(here, part), { recursive: true });
  cpSync(join(import.meta.dirname, 'programs'), folder, { recursive: true });
  return folder;
}

function install(list: string, folder: string): void {
  mkdirSync(folder, { recursive: true });
  const [path, own] = [join(import.meta.dirname, list), join(folder, 'package.json')];
  const wanted = readFileSync(path, 'utf8');
  if (existsSync(join(folder, 'node_modules')) && existsSync(own) && readFileSync(own, 'utf8') === wanted) return;
  cpSync(path, own);
  run('npm', ['install', '--no-audit', '--no-fund', '--legacy-peer-deps', '--no-package-lock'], { cwd: folder });
}

/** By the names in `packages.json`; those that are not installed say so. */
export const versionsIn = (folder: string, packages: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    packages.map((name) => {
      const own = join(folder, 'node_modules', name, 'package.json');
      const { name: published, version } = JSON.parse(readFileSync(own, 'utf8')) as { name: string; version: string };
      return [published, version];
    }),
  );
