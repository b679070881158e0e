import { resolve } from 'node:path';
import { type Clock, checkGiven, checkPrefix, invalid, namesOf, shown, systemClock } from '../../core/index.ts';
import type { Durability } from './store.ts';

/** Options of `file`. */
export interface FileOptions {
  /** The locks file, on a local file system. It is made if it is missing; its folder must exist. */
  readonly path: string;
  /** `process` (default): a grant outlives every process. `power`: it also outlives a power cut; every step then waits for the disk. */
  readonly durability?: Durability;
  /** Keeps applications apart that share a file. Default `holdfast`. */
  readonly prefix?: string;
  /** Timers and randomness. Default: the machine's. Leases always count by the machine's own clock. */
  readonly clock?: Clock;
}

const KNOWN = namesOf<FileOptions>({ path: true, durability: true, prefix: true, clock: true });

/** The options with their defaults. The path is absolute. */
export type ResolvedFileOptions = Required<FileOptions>;

/** @throws LockError `LOCK_INVALID` */
export function resolveFileOptions(options: FileOptions): ResolvedFileOptions {
  checkGiven(options, KNOWN, 'options of file()');
  const { path, durability = 'process', prefix = 'holdfast', clock = systemClock } = options;
  if (typeof path !== 'string' || path === '' || path.includes('\0'))
    throw invalid(`path is ${shown(path)}; give the path of the locks file`);
  if (durability !== 'process' && durability !== 'power')
    throw invalid(`durability is ${shown(durability)}; it must be 'process' or 'power'`);
  return { path: resolve(path), durability, prefix: checkPrefix(prefix), clock };
}
