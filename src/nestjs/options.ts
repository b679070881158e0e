import type { Backend } from '../core/backend.ts';
import { type Duration, milliseconds } from '../core/duration.ts';
import { invalid, shown } from '../core/errors.ts';
import { checkNames } from '../core/options.ts';
import { createLocks, type Locks, type LocksDefaults } from '../locks.ts';

/** One of `url`, `backend` and `locks` says where the locks are. They are closed when the application has ended. */
export interface LocksModuleOptions {
  /** As `connect(url)` takes it: `redis://127.0.0.1`, `file:./locks.db`… The connection is the module's own. */
  readonly url?: string | readonly string[];
  /** An engine over a client of yours, `redis(client)` say, which stays open. */
  readonly backend?: Backend;
  /** Locks that were made elsewhere. */
  readonly locks?: Locks;
  /** Options of every lock. With `url` or `backend`. */
  readonly defaults?: LocksDefaults;
  /**
   * How long the application, when it goes down, waits for the methods that lead and for scheduled ones to settle, before it goes on to
   * close connections. Default 10 s, at most an hour; 0 does not wait.
   */
  readonly settle?: Duration;
}

/** Options after checking. */
export interface LocksModulePlan {
  open(): Promise<Locks>;
  /** ms */
  readonly settle: number;
}

const NAMES = new Set([
  'url',
  'backend',
  'locks',
  'defaults',
  'settle',
] satisfies readonly (keyof LocksModuleOptions)[]);
const SETTLE = 10_000;
const HOUR = 3_600_000;

/** @throws LockError `LOCK_INVALID`, naming the option and what it must be */
export function modulePlan(options: LocksModuleOptions): LocksModulePlan {
  if (typeof options !== 'object' || options === null)
    throw invalid(
      `the options of LocksModule are ${shown(options)}; give an object such as { url: 'redis://127.0.0.1' }`,
    );
  checkNames(options, NAMES, 'the options of LocksModule');
  const { url, backend, locks, defaults, settle = SETTLE } = options;
  const given = Object.entries({ url, backend, locks }).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  if (given.length !== 1)
    throw invalid(`LocksModule needs one of url, backend and locks; it was given ${given.join(' and ') || 'none'}`);
  if (locks !== undefined && typeof locks?.mutex !== 'function')
    throw invalid(`locks is ${shown(locks)}; make it with createLocks(backend), or give a url`);
  if (locks !== undefined && defaults !== undefined)
    throw invalid('defaults go with url or backend; locks that are made already have their own');
  return {
    settle: milliseconds(settle, 'settle', { min: 0, max: HOUR }),
    async open() {
      if (locks) return locks;
      if (backend) return createLocks(backend, defaults);
      // Only now, so that an application that brings its own engine does not load all of them.
      const { connect } = await import('../connect/index.ts');
      return connect(url!, defaults);
    },
  };
}
