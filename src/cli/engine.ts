import { join } from 'node:path';
import { type ConnectOptions, connect } from '../connect/index.ts';
import { redacted, urlOfFile } from '../connect/url.ts';
import { isLockError } from '../core/contract/errors.ts';
import { visible } from '../core/contract/visible.ts';
import type { Locks, LocksDefaults } from '../locks.ts';
import { UsageError } from './exit.ts';
import type { Interruption } from './interruption.ts';
import { ownFolder } from './state-folder.ts';

/** The option of every command that asks an engine. */
export const URL_OPTION = { url: { type: 'string', short: 'u' } } as const;

/** How long an engine is asked that does not answer, where no `--wait` says so: as long as a waiter outlives it. ms. */
export const UNANSWERED = 10_000;

/** The locks of that engine. */
export const open = async ({ url }: EngineAddress, defaults?: LocksDefaults): Promise<Locks> => connect(url, defaults);

/**
 * The same where the engine may not be there yet: all that begins with the machines begins at once.
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

/** Where the locks are, and what said so. */
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
  // Only this folder is made here: that of a file that the user names must exist.
  return { url: urlOfFile(join(ownFolder(), 'locks.db')), from: 'nobody' };
}

const SAID = {
  'the flag': '--url',
  'the environment': 'from HOLDFAST_URL',
  nobody: 'the default: neither --url nor HOLDFAST_URL is set',
} as const satisfies Record<EngineAddress['from'], string>;

/** For an answer that says *nothing*: it may be about another engine than the reader thinks of. */
export const sourceOf = ({ url, from }: EngineAddress): string => `${visible(redacted(url))} (${SAID[from]})`;
