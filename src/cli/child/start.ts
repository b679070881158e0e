import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import type { Duplex } from 'node:stream';
import { EXIT, ExitError } from '../exit.ts';
import { terminalUse } from './foreground.ts';
import { freeDescriptors, gateScript, SHELL } from './gate.ts';
import { ProcessGroup } from './group.ts';
import { inherited } from './inherited.ts';

export interface Started {
  readonly group: ProcessGroup;
  /** The exit code of the command, 128 + n if signal n ended it. */
  readonly exited: Promise<number>;
  /** Lets it begin. If this process dies before, the command has never run. */
  go(): void;
}

/** Makes a process group of its own for a command, so that all of it can be ended. The command waits in there for `go`. */
export async function start(words: readonly string[], env: NodeJS.ProcessEnv): Promise<Started> {
  if (process.platform === 'win32') return atOnce(words, env);
  const free = freeDescriptors(inherited.descriptors);
  if (!free)
    throw new ExitError(
      EXIT.USAGE,
      'descriptors 3 to 9 are all in use; leave two of them free, or close what is not needed',
    );
  const [pipe, errors] = free;
  const use = terminalUse();
  const gate = gateScript(pipe, inherited);
  const child =
    use === 'lend'
      ? run(
          [...SHELL, '-m', '-c', lending(pipe, errors), 'sh', gate, ...words],
          { env },
          [0, 1, 'ignore'],
          pipe,
          errors,
        )
      : // In a session of its own: away from our terminal, as far as it does not have it as its input.
        run(
          [...SHELL, '-c', gate, 'sh', ...words],
          { env, detached: true },
          [use === 'none' ? 'ignore' : 0, 1, 2],
          pipe,
        );
  const exited = exitOf(child);
  await spawned(child, SHELL[0]);
  const line = child.stdio[pipe] as Duplex;
  line.on('error', () => {}); // it may be gone, and its exit code tells why
  const [pid] = await Promise.race([once(line, 'data'), exited.then(() => [child.pid])]);
  return {
    group: new ProcessGroup(Number(pid)),
    exited,
    go: () => line.end('go\n'),
  };
}

/**
 * Node cannot make a process group without a new session, which would lose the terminal: no password prompt, no ^C. A shell
 * with job control (`-m`, POSIX) can, and lends the terminal to it. ^Z is off: whoever stands still loses the lock. What the
 * shell itself has to say about the end of its job goes nowhere; `errors` is the command's standard error.
 */
const lending = (pipe: number, errors: number): string =>
  `trap '' TSTP; gate=$1; shift; ${SHELL.join(' ')} -c "$gate" sh "$@" 2>&${errors} ${errors}>&-; code=$?; exec ${pipe}>&-; exit $code`;

type Options = { readonly env: NodeJS.ProcessEnv; readonly detached?: boolean };

/** Every descriptor that we were given keeps its number. */
function run(
  words: readonly string[],
  options: Options,
  first: StdioOptions & unknown[],
  pipe: number,
  errors?: number,
) {
  const stdio = [...first] as (number | 'ignore' | 'pipe' | undefined)[];
  for (const number of inherited.descriptors) stdio[number] = number;
  stdio[pipe] = 'pipe';
  if (errors !== undefined) stdio[errors] = 2;
  // A hole in the list would be refused; 'ignore' leaves a descriptor from 3 on closed.
  return spawn(words[0]!, words.slice(1), { ...options, stdio: Array.from(stdio, (each) => each ?? 'ignore') });
}

/** On Windows, which has neither process groups nor a shell that everybody has. */
async function atOnce([file, ...args]: readonly string[], env: NodeJS.ProcessEnv): Promise<Started> {
  const child = spawn(file!, args, { stdio: 'inherit', env });
  const exited = exitOf(child);
  await spawned(child, file!);
  return { group: new ProcessGroup(child.pid!), exited, go() {} };
}

async function spawned(child: ChildProcess, file: string): Promise<void> {
  try {
    await once(child, 'spawn');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw code === 'ENOENT'
      ? new ExitError(EXIT.NOT_FOUND, `${JSON.stringify(file)} is not a command here`)
      : new ExitError(EXIT.NOT_EXECUTABLE, `${JSON.stringify(file)} cannot be run (${code})`);
  }
}

function exitOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal!]));
  });
}
