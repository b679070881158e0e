import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { builtOnce } from './built.ts';
import { atExit } from './cleanup.ts';

const run = promisify(execFile);
const PARTS = ['package.json', 'package-lock.json', '.npmrc'];

export interface Project extends Disposable {
  /** A new folder, removed at the end. What is in it finds the packages of the project, and holdfast. */
  readonly path: string;
}

/**
 * A project that has installed the tarball, and the packages that the lock file in `folder` names. Undefined where npm cannot: see `builtOnce`.
 */
export async function projectOf(folder: string, tarball: string): Promise<Project | undefined> {
  const home = await packagesOf(folder);
  if (home === undefined) return undefined;
  const path = mkdtempSync(join(home, 'project-'));
  const remove = (): void => rmSync(path, { recursive: true, force: true, maxRetries: 3 });
  const forget = atExit(remove);
  const own = join(path, 'node_modules/holdfast');
  mkdirSync(own, { recursive: true });
  await run('tar', ['-xzf', tarball, '-C', own, '--strip-components=1']);
  return {
    path,
    [Symbol.dispose]() {
      forget();
      remove();
    },
  };
}

/**
 * A folder with the packages that the lock file in `folder` names. These are many, and nobody else needs them, so they are no packages of the
 * repository.
 */
export function packagesOf(folder: string): Promise<string | undefined> {
  const files = PARTS.map((name) => join(folder, name));
  return builtOnce(basename(folder), files, async (home) => {
    for (const file of files) copyFileSync(file, join(home, basename(file)));
    await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: home, timeout: 240_000 });
  });
}
