import { existsSync } from 'node:fs';
import type { Inherited } from './inherited.ts';

/** The words that start a shell; the shell's own command follows them. */
export type Shell = readonly [file: string, ...flags: string[]];

/**
 * Bash if it is there: other shells drop variables from the environment whose names they do not accept, `a.b` for example. With
 * `--posix` it runs no file of the user first.
 */
export const SHELL: Shell = existsSync('/bin/bash') ? ['/bin/bash', '--posix'] : ['sh'];

/** Two free descriptors of one digit, since some shells accept no others. Undefined if the caller has handed over too many. */
export function freeDescriptors(taken: readonly number[]): readonly [number, number] | undefined {
  const [first, second] = [3, 4, 5, 6, 7, 8, 9].filter((number) => !taken.includes(number));
  return first !== undefined && second !== undefined ? [first, second] : undefined;
}

/**
 * A shell script that writes its process id to the descriptor `pipe`, waits there for a line, and becomes the command. If the
 * process that started it dies first, the script ends, and the command never begins. Node and libuv have reset ignored signals
 * and the number of open files, so the script restores both.
 */
export const gateScript = (pipe: number, { ignored, openFiles }: Inherited): string =>
  [
    `echo "$$" >&${pipe}; read -r go <&${pipe} || exit 125`,
    ...ignored.map((name) => `trap '' ${name.slice('SIG'.length)}`),
    ...(openFiles === undefined ? [] : [`ulimit -S -n ${openFiles}`]),
    `exec "$@" ${pipe}>&-`,
  ].join('; ');
