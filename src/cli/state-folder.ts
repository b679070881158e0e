import { mkdirSync } from 'node:fs';
import { userInfo } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { EXIT, ExitError, UsageError } from './exit.ts';

const ADVICE = 'say where the locks are, with HOLDFAST_URL or --url, as in --url file:/var/lock/jobs.db';

/**
 * Where programs keep their state, apart from the user's own files. Never a path that depends on the current folder: two jobs in
 * two folders would not see each other's locks.
 * @param recorded the home of this user in the system's own records
 * @throws UsageError if this user has no home
 */
export function stateFolder(env: NodeJS.ProcessEnv, platform: NodeJS.Platform, recorded: () => string): string {
  // The XDG specification says to ignore relative paths.
  const { XDG_STATE_HOME: state, LOCALAPPDATA: local } = env;
  if (state && isAbsolute(state)) return join(state, 'holdfast');
  if (platform === 'win32' && local && isAbsolute(local)) return join(local, 'holdfast');
  const home = homeOf(env, recorded);
  if (platform === 'win32') return join(home, 'AppData', 'Local', 'holdfast');
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'holdfast');
  return join(home, '.local', 'state', 'holdfast');
}

/** Containers and cron start programs with an empty HOME, or with none. */
function homeOf({ HOME: named }: NodeJS.ProcessEnv, recorded: () => string): string {
  if (named && isAbsolute(named)) return named;
  const found = absoluteOf(recorded);
  if (found !== undefined) return found;
  throw new UsageError(
    `there is no folder for a file of locks: HOME is ${JSON.stringify(named ?? '')}, and the system knows no home of this user; ${ADVICE}`,
  );
}

/** An id without an entry in the records, as containers have it, is an error of the system. */
function absoluteOf(recorded: () => string): string | undefined {
  try {
    const home = recorded();
    return isAbsolute(home) ? home : undefined;
  } catch {
    return undefined;
  }
}

/**
 * That folder, made if it is missing, for this user alone.
 * @throws ExitError 69 if it cannot be made
 */
export function ownFolder(): string {
  const folder = stateFolder(process.env, process.platform, () => userInfo().homedir);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new ExitError(
      EXIT.UNAVAILABLE,
      `the folder for a file of locks cannot be made: ${(error as Error).message}; ${ADVICE}`,
    );
  }
  return folder;
}
