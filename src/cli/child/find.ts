import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { EXIT, ExitError } from '../exit.ts';

/**
 * Looks for a command as the system does: a name with a slash is a path, any other is looked for in `PATH`. Before a lock is
 * taken, so that nobody waits for a command that cannot be run.
 * @throws ExitError 127 when it is not there, 126 when it is no program
 */
export function checkCommand(file: string, path = process.env.PATH ?? ''): void {
  if (process.platform === 'win32') return; // it has endings of its own, and asks no permission
  const candidates = file.includes('/') ? [file] : path.split(delimiter).map((folder) => join(folder || '.', file));
  const found = candidates.map(kindOf);
  if (found.includes('program')) return;
  if (found.includes('other'))
    throw new ExitError(EXIT.NOT_EXECUTABLE, `${JSON.stringify(file)} cannot be run (EACCES)`);
  throw new ExitError(EXIT.NOT_FOUND, `${JSON.stringify(file)} is not a command here`);
}

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
