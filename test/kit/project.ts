import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { atExit } from './cleanup.ts';
import { serverCache } from './server-cache.ts';

const run = promisify(execFile);
const PARTS = ['package.json', 'package-lock.json', '.npmrc'];

export interface Project extends Disposable {
  /** A new folder, removed at the end. What is in it finds the packages of the project, and holdfast. */
  readonly path: string;
}

/**
 * A project that has installed the tarball, and the packages that the lock file in `folder` names. These are many, and nobody else
 * needs them, so they are no packages of the repository: npm installs them at the first use, beside the servers that were fetched.
 * Undefined where npm cannot: that is told. On CI it is an error.
 */
export async function projectOf(folder: string, tarball: string): Promise<Project | undefined> {
  const home = await installed(folder).catch((error: Error) => {
    const told = `The packages of ${folder} could not be installed, so its tests did not run: ${error.message}`;
    if (process.env.CI === 'true') throw new Error(told);
    console.error(`\n!!! ${told}\n`);
    return undefined;
  });
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

async function installed(folder: string): Promise<string> {
  const hash = createHash('sha256');
  for (const name of PARTS) hash.update(readFileSync(join(folder, name)));
  const all = join(dirname(serverCache()), 'projects');
  const home = join(all, `${basename(folder)}-${hash.digest('hex').slice(0, 12)}`);
  if (existsSync(home)) return home;
  mkdirSync(all, { recursive: true });
  const begun = mkdtempSync(join(all, 'begun-'));
  try {
    for (const name of PARTS) copyFileSync(join(folder, name), join(begun, name));
    await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: begun, timeout: 240_000 });
    renameSync(begun, home);
  } catch (error) {
    rmSync(begun, { recursive: true, force: true, maxRetries: 3 });
    if (!existsSync(home)) throw error; // else another process was first
  }
  return home;
}
