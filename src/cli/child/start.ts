import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import type { Duplex } from 'node:stream';
import { UsageError } from '../exit.ts';
import { complain } from '../terminal/screen.ts';
import { notExecutable, notFound, type Shell, shellOn } from './find.ts';
import { terminalUse } from './foreground.ts';
import { freeDescriptors, gateScript, removedVariables } from './gate.ts';
import { ProcessGroup } from './group.ts';
import { inherited } from './inherited.ts';

export interface StartedCommand {
  readonly group: ProcessGroup;
  /** The exit code of the command; 128 + n if signal n ended it. */
  readonly exited: Promise<number>;
  /** Lets the command begin. If this process dies earlier, the command never runs. */
  go(): void;
}

/**
 * Makes a process group for a command, so that we can end all of it. The command waits there for `go`.
 * @param out the descriptor of its standard output
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
      : // In a session of its own: away from our terminal, unless the terminal is its input.
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
 * Node cannot make a process group without a new session, which would lose the terminal: no password prompt, no ^C. A shell
 * with job control (`-m`, POSIX) can, and it lends the terminal to the group. ^Z is off: a command that stands still loses the
 * lock. The shell's own message about the end of its job goes nowhere; `errors` is the command's standard error.
 */
const lending = (shell: Shell, pipe: number, errors: number): string =>
  `trap '' TSTP; gate=$1; shift; "$0" ${shell.slice(1).join(' ')} -c "$gate" sh "$@" 2>&${errors} ${errors}>&-; code=$?; exec ${pipe}>&-; exit $code`;

/** Inherited descriptors keep their numbers. */
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

/** On Windows there are no process groups, and no shell that everybody has. */
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
