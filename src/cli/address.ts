import { join } from 'node:path';
import { redacted, urlOfFile } from '../connect/url.ts';
import { visible } from '../core/contract/visible.ts';
import { UsageError } from './exit.ts';
import { ownFolder } from './state-folder.ts';

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
export const toldOf = ({ url, from }: EngineAddress): string => `${visible(redacted(url))} (${SAID[from]})`;
