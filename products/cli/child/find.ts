import { accessSync, constants, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename, delimiter, join } from 'node:path';
import { EXIT, ExitError } from '../exit.ts';

/**
 * Looks for a command, and for the shell that starts it, as the system does: a name with a slash is a path, any other is in
 * `PATH`. The check comes before the lock: nobody must wait, and no tick be used up, for a command that cannot run.
 * @throws ExitError 127 if the command or the shell is not there, 126 if it is no program
 */
export function checkCommand(file: string, path = process.env.PATH ?? ''): void {
  if (process.platform === 'win32') return; // Windows adds endings to names, and checks no permission
  const found = candidates(file, path).map(kindOf);
  if (!found.includes('program')) throw found.includes('other') ? notExecutable(file, 'EACCES') : notFound(file);
  shellOn(path);
}

const candidates = (file: string, path: string): string[] =>
  file.includes('/') ? [file] : path.split(delimiter).map((folder) => join(folder || '.', file));

/** The words that start a shell; the shell's own command follows them. */
export type Shell = readonly [file: string, ...flags: string[]];

/** Every system has a shell here, even if `PATH` is wrong. */
const USUAL = `${delimiter}/bin`;

/**
 * Gives Bash if it is there: other shells drop variables whose names they do not accept, `a.b` for example. With `--posix`,
 * Bash runs no file of the user first.
 * @throws ExitError 127 if there is no shell
 */
export function shellOn(path = process.env.PATH ?? ''): Shell {
  const [bash, sh] = ['bash', 'sh'].map((name) =>
    candidates(name, path + USUAL).find((file) => kindOf(file) === 'program'),
  );
  if (bash) return [bash, '--posix'];
  if (sh) return [sh];
  throw new ExitError(
    EXIT.NOT_FOUND,
    'no shell was found (bash or sh), and holdfast starts commands by one; nothing was taken. Add one, or lock in the program itself, with the library',
  );
}

export const notFound = (file: string): ExitError =>
  new ExitError(EXIT.NOT_FOUND, `the command ${JSON.stringify(file)} was not found`);

export const notExecutable = (file: string, code: string | undefined): ExitError =>
  new ExitError(EXIT.NOT_EXECUTABLE, `the command ${JSON.stringify(file)} cannot be executed (${code})`);

function kindOf(path: string): 'program' | 'other' | 'nothing' {
  try {
    if (statSync(path).isDirectory()) return 'other';
  } catch {
    return 'nothing';
  }
  try {
    accessSync(path, constants.X_OK);
    return 'program';
  } catch {
    return 'other';
  }
}

/** The label by which listings name the holder while this command runs. */
export const labelOf = (file: string): string =>
  `${hostname()}:${process.pid} ${basename(file)}`.slice(0, 128).toWellFormed();
