import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Account, temporaryFolder } from './folder.ts';

const run = promisify(execFile);
// A folder of this user's own: what another user left under a known name in a common folder is not to be trusted.
const cache = join(tmpdir(), `holdfast-templates-${userInfo().username}`);

/**
 * Copies a database folder that `create` has to fill only once per machine and version, because that takes seconds.
 * `cp -a` keeps the owner, which `fs.cp` does not.
 */
export async function copyTemplate(
  command: string,
  target: string,
  create: (folder: string) => readonly string[],
  account?: Account,
): Promise<void> {
  const { stdout } = await run(command, ['--version']);
  // Some name themselves with the whole path.
  const version = stdout
    .replace(/^\S*\//, '')
    .replace(/[^\w.]+/g, '-')
    .slice(0, 60);
  const template = join(cache, version);
  if (!existsSync(template)) await makeTemplate(template, create, account);
  await run('cp', ['-a', `${template}/.`, target]);
}

async function makeTemplate(
  template: string,
  create: (folder: string) => readonly string[],
  account?: Account,
): Promise<void> {
  mkdirSync(cache, { recursive: true, mode: 0o700 });
  using folder = temporaryFolder(account);
  const made = join(folder.path, 'data');
  const [command, ...args] = create(made) as [string, ...string[]];
  await run(command, args, { ...account, timeout: 60_000, maxBuffer: 8e6, cwd: folder.path });
  const staged = `${template}.${process.pid}`;
  await run('cp', ['-a', made, staged]);
  try {
    renameSync(staged, template);
  } catch {
    // Another process made it meanwhile; a folder in use is not replaced by a rename.
    rmSync(staged, { recursive: true });
  }
}
