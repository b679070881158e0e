import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Program, ServerRow } from './servers.ts';

const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';
/** As Debian names the folder of libraries of each kind of processor. */
const TRIPLETS: Partial<Record<NodeJS.Architecture, string>> = {
  x64: 'x86_64-linux-gnu',
  arm64: 'aarch64-linux-gnu',
};
/** ms for one command. */
const PATIENCE = 10 * 60_000;

const run = (command: string, args: readonly string[]): string =>
  execFileSync(command, args, {
    encoding: 'utf8',
    timeout: PATIENCE,
    maxBuffer: 64e6,
    stdio: ['ignore', 'pipe', 'pipe'],
  });

/**
 * The programs of a row, unpacked with all that they depend on, the loader and the C library too, so that they run beside whatever
 * the system has. Nothing of the system is changed: apt has a list of sources, a cache and a state of its own here.
 * @returns the folder
 */
export function fetchFromDebian(row: ServerRow, cache: string): string {
  const triplet = TRIPLETS[process.arch];
  if (!triplet) throw new Error(`no servers for processors of the kind ${process.arch}`);
  const work = join(cache, `.fetching-${row.server}-${process.pid}`);
  try {
    const archives = download(row, work);
    const target = join(cache, `${row.server}-${versionIn(archives, row.packages[0])}`);
    if (existsSync(target)) return target;
    const root = join(work, 'made', 'root');
    mkdirSync(root, { recursive: true });
    for (const name of readdirSync(archives)) {
      if (name.endsWith('.deb')) run('dpkg-deb', ['-x', join(archives, name), root]);
    }
    writeLaunchers(row, join(work, 'made'), join(target, 'root'), triplet);
    renameSync(join(work, 'made'), target);
    return target;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** @returns the folder of the packages */
function download(row: ServerRow, work: string): string {
  const [lists, cache] = [join(work, 'lists'), join(work, 'cache')];
  for (const folder of [lists, join(cache, 'archives', 'partial')]) mkdirSync(folder, { recursive: true });
  // As if nothing was installed: the system's own libraries are not those that these programs were built with.
  const [status, sources] = [join(work, 'status'), join(work, 'debian.sources')];
  writeFileSync(status, '');
  const source = { Types: 'deb', URIs: mirror(), Suites: row.suite, Components: 'main', 'Signed-By': KEYRING };
  writeFileSync(
    sources,
    Object.entries(source)
      .map(([name, value]) => `${name}: ${value}\n`)
      .join(''),
  );
  const settings = {
    'Dir::Etc::SourceList': sources,
    'Dir::Etc::SourceParts': '/dev/null',
    'Dir::State': work,
    'Dir::State::Lists': lists,
    'Dir::State::status': status,
    'Dir::Cache': cache,
    'Acquire::Languages': 'none',
    'APT::Sandbox::User': 'root',
    'APT::Install-Recommends': 'false',
  };
  const apt = (...args: string[]): string =>
    run('apt-get', [...Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`]), '-q', ...args]);
  apt('update');
  apt('install', '--download-only', '-y', ...row.packages);
  return join(cache, 'archives');
}

/** Where this system itself gets Debian from. */
function mirror(): string {
  const codename = /^VERSION_CODENAME=(\w+)/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1];
  const format = '$(REPO_URI) $(RELEASE) $(COMPONENT)';
  const found = run('apt-get', ['indextargets', '--format', format, 'Identifier: Packages'])
    .split('\n')
    .map((line) => line.split(' '))
    .find(([, release, component]) => release === codename && component === 'main');
  if (!found) throw new Error(`this is no Debian, or its apt has no source for ${codename} main`);
  return found[0]!;
}

/** Without the epoch and the revision of Debian. */
function versionIn(archives: string, name: string): string {
  const file = readdirSync(archives).find((archive) => archive.startsWith(`${name}_`));
  if (!file) throw new Error(`apt-get brought no package ${name}`);
  return run('dpkg-deb', ['-f', join(archives, file), 'Version'])
    .trim()
    .replace(/^\d+:/, '')
    .replace(/-[^-]*$/, '');
}

/** A program of another system needs that system's loader, which looks for libraries where the line of command says. */
function writeLaunchers({ programs }: ServerRow, made: string, root: string, triplet: string): void {
  const libraries = join('usr', 'lib', triplet);
  const loader = readdirSync(join(made, 'root', libraries)).find((name) => /^ld-linux.*\.so\.\d+$/.test(name));
  if (!loader) throw new Error('the C library was unpacked without its loader');
  mkdirSync(join(made, 'bin'));
  for (const [name, { path, flags = [] }] of Object.entries<Program>(programs)) {
    const own = flags.map((flag) => quoted(flag.replaceAll('{root}', root)));
    const words = [join(root, libraries, loader), '--library-path', join(root, libraries), join(root, path)].map(
      quoted,
    );
    const launcher = join(made, 'bin', name);
    // Flags of the caller come first: some servers take certain ones in the first place only.
    writeFileSync(launcher, `#!/bin/sh\nexec ${words.join(' ')} "$@" ${own.join(' ')}\n`);
    chmodSync(launcher, 0o755);
  }
}

const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;
