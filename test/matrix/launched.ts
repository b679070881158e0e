import { delimiter, join } from 'node:path';
import { find } from '../kit/programs.ts';
import { classPath } from './class-path.ts';
import type { ServerRow } from './servers.ts';
import { run } from './sources/command.ts';

/** A server that can be started. */
export interface Launched {
  /** By its own word. */
  readonly version: string;
  /** With which the test kit finds it before any other. */
  readonly env: NodeJS.ProcessEnv;
}

export function launchedIn(folder: string, row: ServerRow): Launched {
  const bin = join(folder, 'bin');
  const version = versionOf(row, (program) => join(bin, program));
  const own = row.classPath && { [row.classPath.variable]: classPath(join(folder, 'root', row.classPath.jar)) };
  return {
    version,
    env: { ...process.env, ...own, PATH: [bin, process.env.PATH].join(delimiter) },
  };
}

/** The one that the test kit finds on this machine, as in a container. */
export const launchedHere = (row: ServerRow): Launched => ({
  version: versionOf(row, (program) => find(program) ?? program),
  env: process.env,
});

function versionOf({ programs, version: wanted }: ServerRow, pathOf: (program: string) => string): string {
  const [first] = Object.keys(programs);
  const version = versionIn(run(pathOf(first!), ['--version']));
  if (`${version}.`.startsWith(`${wanted}.`)) return version;
  throw new Error(`what can be had is ${version}, and no longer ${wanted}`);
}

/** What a server prints when it is asked for its version. The path of a program, which some print before, has one, too. */
export function versionIn(printed: string): string {
  const version = /(?:\bv=|\b[Vv]er(?:sion)?:? v?|\(PostgreSQL\) |PgBouncer )(\d+\.\d+(?:\.\d+)*)/.exec(printed)?.[1];
  if (!version) throw new Error(`no version in what the server says of itself: ${printed.trim()}`);
  return version;
}
