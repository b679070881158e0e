import { existsSync } from 'node:fs';
import type { Inherited } from './inherited.ts';

/** A shell that starts what stands behind these words. */
export type Shell = readonly [file: string, ...flags: string[]];

/**
 * Bash, where it is there: others leave out of the environment what is no name in a shell, `a.b` for one. As POSIX has it, so
 * that it runs no file of the user's first.
 */
export const SHELL: Shell = existsSync('/bin/bash') ? ['/bin/bash', '--posix'] : ['sh'];

/**
 * Two descriptors that nobody uses: of one digit, since some shells know no others. Undefined where the caller has handed over
 * so many that there are none.
 */
export function freeDescriptors(taken: readonly number[]): readonly [number, number] | undefined {
  const [first, second] = [3, 4, 5, 6, 7, 8, 9].filter((number) => !taken.includes(number));
  return first !== undefined && second !== undefined ? [first, second] : undefined;
}

/**
 * A shell script that tells who it is on the descriptor `pipe`, waits there for a word, and becomes the command. If whoever
 * started it dies before the word, it ends, and the command has never begun. Signals that were ignored, and the number of open
 * files, are as they were: Node and libuv have reset both.
 */
export const gateScript = (pipe: number, { ignored, openFiles }: Inherited): string =>
  [
    `echo "$$" >&${pipe}; read -r go <&${pipe} || exit 125`,
    ...ignored.map((name) => `trap '' ${name.slice('SIG'.length)}`),
    ...(openFiles === undefined ? [] : [`ulimit -S -n ${openFiles}`]),
    `exec "$@" ${pipe}>&-`,
  ].join('; ');
