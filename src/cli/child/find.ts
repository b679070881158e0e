import { accessSync, constants, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename, delimiter, join } from 'node:path';
import { EXIT, ExitError } from '../exit.ts';

/**
 * Looks for a command as the system does: a name with a slash is a path, and `PATH` leads to any other. It comes before the lock,
 * so that nobody waits for a command that cannot run.
 * @throws ExitError 127 if the command is not there, 126 if it is no program
 */
export function checkCommand(file: string, path = process.env.PATH ?? ''): void {
  if (process.platform === 'win32') return; // Windows adds endings of its own, and checks no permission
  const candidates = file.includes('/') ? [file] : path.split(delimiter).map((folder) => join(folder || '.', file));
  const found = candidates.map(kindOf);
  if (found.includes('program')) return;
  throw found.includes('other') ? notExecutable(file, 'EACCES') : notFound(file);
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

/** Names the holder in listings while this command runs. */
export const labelOf = (file: string): string =>
  `${hostname()}:${process.pid} ${basename(file)}`.slice(0, 128).toWellFormed();
