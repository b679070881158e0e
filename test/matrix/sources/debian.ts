import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './command.ts';

const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';

export interface Packages {
  readonly suites: readonly string[];
  readonly packages: readonly string[];
}

/**
 * Unpacks packages with all that they depend on, the loader and the C library too, so that their programs run beside whatever
 * the system has. Nothing of the system is changed: apt has a list of sources, a cache and a state of its own here.
 */
export function fetchFromDebian(wanted: Packages, work: string, root: string): void {
  const archives = download(wanted, work);
  mkdirSync(root);
  for (const name of readdirSync(archives)) {
    if (name.endsWith('.deb')) run('dpkg-deb', ['-x', join(archives, name), root]);
  }
}

/** @returns the folder of the packages */
function download({ suites, packages }: Packages, work: string): string {
  const [lists, cache] = [join(work, 'lists'), join(work, 'cache')];
  for (const folder of [lists, join(cache, 'archives', 'partial')]) mkdirSync(folder, { recursive: true });
  // As if nothing was installed: the system's own libraries are not those that these programs were built with.
  const [status, sources] = [join(work, 'status'), join(work, 'debian.sources')];
  writeFileSync(status, '');
  const source = { Types: 'deb', URIs: mirror(), Suites: suites.join(' '), Components: 'main', 'Signed-By': KEYRING };
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
  apt('install', '--download-only', '-y', ...packages);
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
