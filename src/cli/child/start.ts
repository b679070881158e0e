import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import type { Readable } from 'node:stream';
import { EXIT, ExitError } from '../exit.ts';
import { mayLendTerminal } from './foreground.ts';
import { ProcessGroup } from './group.ts';

export interface Started {
  readonly group: ProcessGroup;
  /** The exit code of the command, 128 + n if signal n ended it. */
  readonly exited: Promise<number>;
}

/** Starts a command in a process group of its own, so that all of it can be ended. */
export async function start(words: readonly string[], env: NodeJS.ProcessEnv): Promise<Started> {
  return mayLendTerminal() ? inForeground(words, env) : apart(words, env);
}

/** In a session of its own: away from our terminal, as far as it does not have it as its input. */
async function apart([file, ...args]: readonly string[], env: NodeJS.ProcessEnv): Promise<Started> {
  const child = spawn(file!, args, { stdio: 'inherit', detached: process.platform !== 'win32', env });
  const exited = exitOf(child);
  await spawned(child, file!);
  return { group: new ProcessGroup(child.pid!), exited };
}

/** Tells who it is, and becomes the command. */
const INNER = 'echo "$$" >&3; exec "$@" 3>&-';
/**
 * Node cannot make a process group without a new session, which would lose the terminal: no password prompt, no ^C. A shell
 * with job control (`-m`, POSIX) can, and lends the terminal to it. ^Z is off: whoever stands still loses the lock. What the
 * shell itself has to say about the end of its job goes nowhere; 4 is the command's standard error.
 */
const OUTER = `trap '' TSTP; sh -c '${INNER}' sh "$@" 2>&4 4>&-; exit $?`;

async function inForeground(words: readonly string[], env: NodeJS.ProcessEnv): Promise<Started> {
  const child = spawn('sh', ['-m', '-c', OUTER, 'sh', ...words], { stdio: [0, 1, 'ignore', 'pipe', 2], env });
  const exited = exitOf(child);
  await spawned(child, 'sh');
  const told = child.stdio[3] as Readable;
  const [line] = await Promise.race([once(told, 'data'), exited.then(() => [child.pid])]);
  told.destroy();
  return { group: new ProcessGroup(Number(line)), exited };
}

async function spawned(child: ChildProcess, file: string): Promise<void> {
  try {
    await once(child, 'spawn');
  } catch (error) {
    throw notStarted(file, error as NodeJS.ErrnoException);
  }
}

function exitOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal!]));
  });
}

function notStarted(file: string, { code }: NodeJS.ErrnoException): ExitError {
  if (code === 'ENOENT') return new ExitError(EXIT.NOT_FOUND, `${JSON.stringify(file)} is not a command here`);
  return new ExitError(EXIT.NOT_EXECUTABLE, `${JSON.stringify(file)} cannot be run (${code})`);
}
