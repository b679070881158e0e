import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import type { Duplex } from 'node:stream';
import { isatty } from 'node:tty';
import { UsageError } from '../exit.ts';
import { complain } from '../terminal/screen.ts';
import { notExecutable, notFound, type Shell, shellOn } from './find.ts';
import { ProcessGroup, statOf } from './group.ts';
import { type InheritedState, inherited } from './inherited.ts';

/**
 * What the command may do with the terminal. `lend`: the command has the terminal while it runs. `input`, also for an input that
 * is no terminal: the command may only read what the user types, since another program of the pipeline may need the rest
 * (`… | less` would stop at its next key). `none`: we run in the background, and what the user types is for another program.
 */
function terminalUse(): 'lend' | 'input' | 'none' {
  if (process.platform === 'win32' || !isatty(0)) return 'input';
  const [own, foreground] = jobOf();
  if (own !== foreground) return 'none';
  return isatty(1) ? 'lend' : 'input';
}

function jobOf(): [own: string, foreground: string] {
  try {
    const [, , own, , , foreground] = statOf('self');
    return [own!, foreground!];
  } catch {
    const { stdout } = spawnSync('ps', ['-o', 'pgid=', '-o', 'tpgid=', '-p', `${process.pid}`], { encoding: 'utf8' });
    const [own = '', foreground = 'none'] = (stdout ?? '').trim().split(/\s+/);
    return [own, foreground];
  }
}

/** Two free descriptors of one digit, since some shells accept no larger ones. Undefined if too many are taken. */
function freeDescriptors(taken: readonly number[]): readonly [number, number] | undefined {
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
 * Packs the variables that a shell other than bash would drop into variables that it accepts: each value is a dropped `name=value`.
 * They must not be on a command line, which everybody could read while the command waits.
 */
export const removedVariables = (env: NodeJS.ProcessEnv): Record<string, string> =>
  Object.fromEntries(
    Object.entries(env)
      .filter(([name, value]) => name !== '' && value !== undefined && !NAME.test(name))
      .map(([name, value], i) => [`HOLDFAST_DROPPED_${i}`, `${name}=${value}`]),
  );

/**
 * Only `env` can set such names. It takes the first word without a `=` for the command. The name of a command may have a `=`, so
 * `nice`, which changes nothing, comes first.
 */
const restoring = (dropped: readonly string[]): string =>
  `set -- env -- ${dropped.map((name) => `"$${name}"`).join(' ')} nice -n 0 "$@"; unset ${dropped.join(' ')}`;

interface StartedCommand {
  readonly group: ProcessGroup;
  /** The exit code of the command; 128 + n if signal n ended it. */
  readonly exited: Promise<number>;
  /** Lets the command begin. If this process dies earlier, the command never runs. */
  go(): void;
}

/**
 * Makes a process group for a command, so that we can end the whole group. The command waits in it for `go`.
 * @param out the descriptor of the command's standard output
 */
export async function start(words: readonly string[], given: NodeJS.ProcessEnv, out = 1): Promise<StartedCommand> {
  if (process.platform === 'win32') return atOnce(words, given, out);
  const shell = shellOn(given.PATH);
  const free = freeDescriptors(inherited.descriptors);
  if (!free) throw new UsageError('two of the file descriptors 3 to 9 must be free; close some');
  const [pipe, errors] = free;
  const use = terminalUse();
  const dropped = shell[0].endsWith('bash') ? {} : removedVariables(given);
  const env = { ...given, ...dropped };
  const gate = gateScript(pipe, inherited, Object.keys(dropped));
  const child =
    use === 'lend'
      ? run(
          [...shell, '-m', '-c', lending(shell, pipe, errors), shell[0], gate, ...words],
          { env },
          [0, out, 'ignore'],
          pipe,
          errors,
        )
      : // `detached` is a new session: away from our terminal, unless the terminal is the input.
        run(
          [...shell, '-c', gate, 'sh', ...words],
          { env, detached: true },
          [use === 'none' ? 'ignore' : 0, out, 2],
          pipe,
        );
  const exited = exitOf(child);
  await waitForStart(child, shell[0]);
  const line = child.stdio[pipe] as Duplex;
  line.on('error', () => {}); // the process may be gone; its exit code says why
  const [pid] = await Promise.race([once(line, 'data'), exited.then(() => [child.pid])]);
  return {
    group: new ProcessGroup(Number(pid)),
    exited,
    go: () => line.end('go\n'),
  };
}

/**
 * Node cannot make a process group without a new session, which has no terminal: no password prompt, no ^C. A shell with job
 * control (`-m`, POSIX) can make a group, and lends the terminal to it. ^Z is off: a stopped command loses the lock. The
 * shell's own message about the end of its job is dropped: only the command writes to `errors`, our standard error.
 */
const lending = (shell: Shell, pipe: number, errors: number): string =>
  `trap '' TSTP; gate=$1; shift; "$0" ${shell.slice(1).join(' ')} -c "$gate" sh "$@" 2>&${errors} ${errors}>&-; code=$?; exec ${pipe}>&-; exit $code`;

/** Starts a process. Inherited descriptors keep their numbers. */
function run(
  [file, ...args]: readonly string[],
  options: { readonly env: NodeJS.ProcessEnv; readonly detached?: boolean },
  first: readonly (number | 'ignore')[],
  pipe: number,
  errors?: number,
) {
  const stdio: (number | 'ignore' | 'pipe' | undefined)[] = [...first];
  for (const number of inherited.descriptors) stdio[number] = number;
  stdio[pipe] = 'pipe';
  if (errors !== undefined) stdio[errors] = 2;
  // Node refuses a hole in the list; 'ignore' leaves a descriptor from 3 on closed.
  return spawn(file!, args, { ...options, stdio: Array.from(stdio, (each) => each ?? 'ignore') });
}

/** Starts the command at once: Windows has no process groups, and no shell that everybody has. */
async function atOnce(
  [file, ...args]: readonly string[],
  env: NodeJS.ProcessEnv,
  out: number,
): Promise<StartedCommand> {
  complain(`Windows has no process groups: if the lock is lost, ${file} is ended, but not what it has started`);
  const child = spawn(file!, args, { stdio: ['inherit', out, 'inherit'], env });
  const exited = exitOf(child);
  await waitForStart(child, file!);
  return { group: new ProcessGroup(child.pid!), exited, go() {} };
}

async function waitForStart(child: ChildProcess, file: string): Promise<void> {
  try {
    await once(child, 'spawn');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw code === 'ENOENT' ? notFound(file) : notExecutable(file, code);
  }
}

function exitOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal!]));
  });
}
