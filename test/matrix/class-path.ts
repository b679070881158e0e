import { existsSync } from 'node:fs';
import { basename, delimiter, dirname, join } from 'node:path';
import { run } from './sources/command.ts';

/** A jar of Debian with its libraries, as `java -cp` takes them: these first, for its manifest names the same of the system. */
export function classPath(jar: string): string {
  const manifest = run('unzip', ['-p', jar, 'META-INF/MANIFEST.MF']).replaceAll(/\r?\n /g, '');
  const named = /^Class-Path: (.*)$/m.exec(manifest)?.[1]?.trim().split(' ') ?? [];
  const beside = named.map((library) => join(dirname(jar), basename(library)));
  return [...beside.filter((library) => existsSync(library)), jar].join(delimiter);
}
