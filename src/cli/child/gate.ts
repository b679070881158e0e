import type { InheritedState } from './inherited.ts';

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
export const gateScript = (
  pipe: number,
  { ignored, openFiles }: InheritedState,
  dropped: readonly string[] = [],
): string =>
  [
    `echo "$$" >&${pipe}; read -r go <&${pipe} || exit 125`,
    ...ignored.map((name) => `trap '' ${name.slice('SIG'.length)}`),
    ...(openFiles === undefined ? [] : [`ulimit -S -n ${openFiles}`]),
    ...(dropped.length === 0 ? [] : [restoring(dropped)]),
    `exec "$@" ${pipe}>&-`,
  ].join('; ');

const NAME = /^[A-Za-z_]\w*$/;

/**
 * What a shell that is not bash would leave out of the environment, as variables that it accepts: each has a name and a value of the
 * others in it. On a command line everybody could read the values for as long as the command waits.
 */
export const removedVariables = (env: NodeJS.ProcessEnv): Record<string, string> =>
  Object.fromEntries(
    Object.entries(env)
      .filter(([name, value]) => name !== '' && value !== undefined && !NAME.test(name))
      .map(([name, value], i) => [`HOLDFAST_DROPPED_${i}`, `${name}=${value}`]),
  );

/**
 * Only `env` can set such names. It takes the first word without a `=` for the command, so before it comes `nice`, which changes
 * nothing.
 */
const restoring = (dropped: readonly string[]): string =>
  `set -- env -- ${dropped.map((name) => `"$${name}"`).join(' ')} nice -n 0 "$@"; unset ${dropped.join(' ')}`;
