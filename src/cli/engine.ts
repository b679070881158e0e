import { type ConnectOptions, connect } from '../connect/index.ts';
import { isLockError } from '../core/contract/errors.ts';
import type { Locks, LocksDefaults } from '../locks.ts';
import type { EngineAddress } from './address.ts';
import type { Interruption } from './interruption.ts';

/** The option of every command that asks an engine. */
export const URL_OPTION = { url: { type: 'string', short: 'u' } } as const;

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
