import { mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { connect } from '../connect/index.ts';
import { urlOfFile } from '../connect/url.ts';
import type { Locks, LocksDefaults } from '../locks.ts';
import { UsageError } from './exit.ts';

/** The option of every command that asks an engine. */
export const URL_OPTION = { url: { type: 'string', short: 'u' } } as const;

/**
 * The engine from the flag, else from the environment, else a file of the user.
 * @throws UsageError for `memory:`, which no other process could see
 */
export function urlOf(url: string | undefined): string {
  const given = url ?? (process.env.HOLDFAST_URL || undefined);
  if (given?.startsWith('memory:'))
    throw new UsageError(
      'memory: keeps locks in one process, where no other process sees them; use a file or a server',
    );
  if (given) return given;
  const folder = stateFolder();
  mkdirSync(folder, { recursive: true, mode: 0o700 }); // only ours: the folder of a file that the user names must exist
  return urlOfFile(join(folder, 'locks.db'));
}

/** The locks of that engine. */
export const open = async (url: string | undefined, defaults?: LocksDefaults): Promise<Locks> =>
  connect(urlOf(url), defaults);

/** Where programs keep their state, apart from the user's own files. */
function stateFolder(): string {
  const { XDG_STATE_HOME: state, LOCALAPPDATA: local } = process.env;
  // The XDG specification says to ignore relative paths.
  if (state && isAbsolute(state)) return join(state, 'holdfast');
  if (process.platform === 'win32') return join(local ?? join(homedir(), 'AppData', 'Local'), 'holdfast');
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Application Support', 'holdfast');
  return join(homedir(), '.local', 'state', 'holdfast');
}
