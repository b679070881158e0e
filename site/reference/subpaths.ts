/** The subpaths that the package is imported by, with what each of them exports. */
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { sourceOf } from '../../scripts/sources.mjs';
import { root } from '../pages.ts';
import { type Declaration, exportsOf } from './declarations.ts';

export interface Subpath {
  /** `holdfast/redis`. */
  readonly name: string;
  readonly exports: readonly Declaration[];
}

/** The page of a subpath, as a path from the top of the repository; it is written when the site is built. */
export const GENERATED = 'site/reference/pages';

/** What readers look for first. */
const FIRST = [
  'createLocks',
  'Locks',
  'LocksDefaults',
  'LockOptions',
  'Mutex',
  'Lock',
  'Lease',
  'SharedLease',
  'LockError',
];

const firstFirst = (all: readonly Declaration[]): Declaration[] => {
  const rank = ({ name }: Declaration): number => (FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length);
  return all.toSorted((a, b) => rank(a) - rank(b));
};

export const pageFor = ({ name }: Pick<Subpath, 'name'>): string =>
  `${GENERATED}/${name.replace(/^holdfast\/(?=.)/, '').replaceAll('/', '-')}.md`;

export function subpaths(): Subpath[] {
  const types = join(root, '.tmp', `types-${process.pid}`);
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const emit = ['-p', join(root, 'tsconfig.build.json'), '--emitDeclarationOnly', '--outDir', types];
  execFileSync(process.execPath, [tsc, ...emit], { cwd: root, stdio: 'inherit' });
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    exports: Record<string, { types?: string }>;
  };
  const found = Object.entries(exports).flatMap(([path, { types: file }]) => {
    const declared = file ? exportsOf(sourceOf(file, types)) : [];
    return file ? [{ name: `holdfast${path.slice(1)}`, exports: firstFirst(declared) }] : [];
  });
  rmSync(types, { recursive: true });
  return found;
}
