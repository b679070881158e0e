import { mkdirSync } from 'node:fs';
import { userInfo } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { type ConnectOptions, connect } from '../../src/connect/index.ts';
import { redacted, urlOfFile } from '../../src/connect/url.ts';
import { isLockError, visible } from '../../src/core/index.ts';
import type { Locks, LocksDefaults } from '../../src/locks.ts';
import { EXIT, ExitError, UsageError } from './exit.ts';
import type { Interruption } from './interruption.ts';

const ADVICE = 'say where the locks are, with HOLDFAST_URL or --url, as in --url file:/var/lock/jobs.db';

/**
 * The folder where programs keep their state, apart from the user's own files. The path never depends on the current folder: two
 * jobs in two folders would not see each other's locks.
 * @param recorded gives the home of this user in the system's records
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

/** The user's home. Containers and cron start programs with an empty HOME, or with none. */
function homeOf({ HOME: named }: NodeJS.ProcessEnv, recorded: () => string): string {
  if (named && isAbsolute(named)) return named;
  const found = absoluteOf(recorded);
  if (found !== undefined) return found;
  throw new UsageError(
    `there is no folder for a file of locks: HOME is ${JSON.stringify(named ?? '')}, and the system knows no home of this user; ${ADVICE}`,
  );
}

/** In containers the records may have no entry for the user. Then `recorded` throws. */
function absoluteOf(recorded: () => string): string | undefined {
  try {
    const home = recorded();
    return isAbsolute(home) ? home : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Gives the state folder. If it is missing, makes it for this user alone.
 * @throws ExitError 69 if it cannot be made
 */
function ownFolder(): string {
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

export const URL_OPTION = { url: { type: 'string', short: 'u' } } as const;

/** How long we ask an engine that does not answer, without a `--wait`, ms: as long as a waiter does. */
export const ANSWER_TIMEOUT_MS = 10_000;

export const open = async ({ url }: EngineAddress, defaults?: LocksDefaults): Promise<Locks> => connect(url, defaults);

/**
 * Opens the locks of an engine that may not be there yet: when machines start, all their programs start at once.
 * @returns undefined if a signal ended the wait
 */
export async function openWithin(
  { url }: EngineAddress,
  defaults: LocksDefaults,
  interruption: Interruption,
  patience: Pick<ConnectOptions, 'within' | 'onError'>,
): Promise<Locks | undefined> {
  try {
    return await connect(url, defaults, { ...patience, signal: interruption.signal });
  } catch (error) {
    if (isLockError(error, 'LOCK_ABORTED') && interruption.exitCode !== undefined) return undefined;
    throw error;
  }
}

export interface EngineAddress {
  readonly url: string;
  readonly from: 'the flag' | 'the environment' | 'nobody';
}

/**
 * The engine from the flag, else from the environment, else a file of the user.
 * @throws UsageError for `memory:`, which no other process could see; ExitError if the user's file cannot have a folder
 */
export function addressOf(flag: string | undefined): EngineAddress {
  const url = flag ?? (process.env.HOLDFAST_URL || undefined);
  if (url?.startsWith('memory:'))
    throw new UsageError(
      'memory: keeps locks in one process, where no other process sees them; use a file or a server',
    );
  if (url !== undefined && url !== '') return { url, from: flag === undefined ? 'the environment' : 'the flag' };
  // We make only this folder. If the user names a file, its folder must exist.
  return { url: urlOfFile(join(ownFolder(), 'locks.db')), from: 'nobody' };
}

const SAID = {
  'the flag': '--url',
  'the environment': 'from HOLDFAST_URL',
  nobody: 'the default: neither --url nor HOLDFAST_URL is set',
} as const satisfies Record<EngineAddress['from'], string>;

/** Names the engine in answers such as *nothing found*: the reader may think of another engine. */
export const sourceOf = ({ url, from }: EngineAddress): string => `${visible(redacted(url))} (${SAID[from]})`;
