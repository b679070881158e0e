import { resolve } from 'node:path';
import { type Backend, LONGEST_PLACE_TTL, type Traits } from '../../core/backend.ts';
import { type Clock, systemClock } from '../../core/clock.ts';
import { invalid, shown } from '../../core/errors.ts';
import { checkPrefix } from '../../core/key.ts';
import { checkGiven } from '../../core/options.ts';
import { FileBackend } from './backend.ts';
import { machineBoot } from './machine.ts';
import type { Durability } from './store.ts';

export type { Durability } from './store.ts';

export interface FileOptions {
  /** The locks file, on a local file system; made if it is not there, in a folder that has to be there. */
  readonly path: string;
  /**
   * `process` (default): a grant outlives every process. `power`: it also outlives a power cut; every step then waits
   * until the disk has it.
   */
  readonly durability?: Durability;
  /** Keeps apart what shares a file. `holdfast` by default. */
  readonly prefix?: string;
  /** Timers and randomness; the machine's by default. Leases are counted by the machine's own clock in any case. */
  readonly clock?: Clock;
}

const KNOWN = new Set(['path', 'durability', 'prefix', 'clock']);

/**
 * Locks between the processes of one machine, without a server: SQLite is the truth, unix sockets are the door-bells. A
 * holder that is killed is replaced within milliseconds, one that is stopped when its lease lapses.
 * @throws LockError `LOCK_INVALID`. The file is opened by the first call that needs it.
 */
export function file(options: FileOptions): Backend {
  checkGiven(options, KNOWN, 'options of file()');
  const { path, durability = 'process', prefix = 'holdfast', clock = systemClock } = options;
  if (typeof path !== 'string' || path === '' || path.includes('\0')) {
    throw invalid(`path is ${shown(path)}; give the path of the locks file`);
  }
  if (durability !== 'process' && durability !== 'power') {
    throw invalid(`durability is ${shown(durability)}; it must be 'process' or 'power'`);
  }
  return new FileBackend(resolve(path), durability, checkPrefix(prefix), clock, traits(durability));
}

const traits = (durability: Durability): Traits => ({
  seats: 'counted',
  fair: true,
  // Where the system does not name its starts, one is not always seen, so that a power cut might bring tickets back.
  fencing: machineBoot() !== '' || durability === 'power' ? 'always' : 'durable',
  spans: true,
  wakes: 'mailbox',
  lapses: true,
  keptBy: 'lease',
  placeTtl: LONGEST_PLACE_TTL,
  ttl: { min: 10, max: Number.MAX_SAFE_INTEGER },
});
