import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { connect } from '../connect/index.ts';
import { urlOfFile } from '../connect/url.ts';
import type { Locks, LocksDefaults } from '../locks.ts';

/** Of every command that asks an engine. */
export const URL_OPTION = { url: { type: 'string', short: 'u' } } as const;

/** The locks of the engine that is named by the flag, by the environment, or by nobody: then a file of the user. */
export const open = (url: string | undefined, defaults?: LocksDefaults): Promise<Locks> =>
  connect(url ?? (process.env.HOLDFAST_URL || urlOfFile(join(stateFolder(), 'locks.db'))), defaults);

/** Where programs keep what outlives them, without being the user's own files. */
function stateFolder(): string {
  const { XDG_STATE_HOME: state, LOCALAPPDATA: local } = process.env;
  // The XDG specification has relative paths ignored.
  if (state && isAbsolute(state)) return join(state, 'holdfast');
  if (process.platform === 'win32') return join(local ?? join(homedir(), 'AppData', 'Local'), 'holdfast');
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Application Support', 'holdfast');
  return join(homedir(), '.local', 'state', 'holdfast');
}
