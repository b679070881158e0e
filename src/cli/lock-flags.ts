import { type SharedOption, sharedWith } from '../core/contract/option-table.ts';
import type { LockOptions } from '../index.ts';
import { timeIfGiven } from './child/timing.ts';

/** An option of a lock that `holdfast run` has, too: the table of options says which. */
type Name = SharedOption<'run'>;

/** The flag of an option: `min-hold` for `minHold`. */
type Flag<N extends string> = N extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `-${Lowercase<First>}`}${Flag<Rest>}`
  : N;

/** The words of each flag in the help. A second line is indented like the first. */
const WORDS: Readonly<Record<Name, string>> = {
  wait: 'how long to wait for the lock, and for an engine that is away; 0 tries once (default: no limit\nfor the lock, 10s for the engine)',
  ttl: 'how long the lock outlives this process (default 30s); it is renewed while the command runs',
  minHold: 'hold the key at least this long, even if the command ends earlier',
  delay: 'keep the key taken this long after a lease that was not renewed, at most 1m (default 0)',
};

const NAMES = Object.keys(sharedWith('run')) as Name[];
const flagOf = (name: Name): Flag<Name> => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`) as Flag<Name>;

/** The flags of `holdfast run` that are options of a lock, as `parseArgs` wants them. */
export const LOCK_FLAGS = Object.fromEntries(NAMES.map((name) => [flagOf(name), { type: 'string' }])) as {
  readonly [N in Name as Flag<N>]: { readonly type: 'string' };
};

/** Their lines in the help. */
export const LOCK_FLAG_LINES = NAMES.map((name) => {
  const flag = `  --${flagOf(name)} <time>`.padEnd(22);
  return flag + WORDS[name].replaceAll('\n', `\n${' '.repeat(22)}`);
}).join('\n');

/**
 * The options of a lock that these flags give.
 * @throws UsageError for a time that lacks its unit
 */
export const lockOptionsOf = (values: { readonly [N in Name as Flag<N>]?: string }): Pick<LockOptions, Name> =>
  Object.fromEntries(NAMES.map((name) => [name, timeIfGiven(values[flagOf(name)], `--${flagOf(name)}`)]));
