import { connect } from '../connect/index.ts';
import type { Locks, LocksDefaults } from '../locks.ts';
import type { EngineAddress } from './address.ts';

/** The option of every command that asks an engine. */
export const URL_OPTION = { url: { type: 'string', short: 'u' } } as const;

/** The locks of that engine. */
export const open = async ({ url }: EngineAddress, defaults?: LocksDefaults): Promise<Locks> => connect(url, defaults);
