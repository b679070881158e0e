import { type Backend, checkNames, type Duration, invalid, milliseconds, namesOf, shown } from '../core/index.ts';
import { createLocks, type Locks, type LocksDefaults } from '../locks.ts';

/** Give one of `url`, `backend` and `locks`. The module closes the locks when the application has ended. */
export interface LocksModuleOptions {
  /** An address as for `connect(url)`: `redis://127.0.0.1`, `file:./locks.db`… The module opens its own connection. */
  readonly url?: string | readonly string[];
  /** A backend with your own client, for example `redis(client)`. The client stays open. */
  readonly backend?: Backend;
  /** Locks that you made elsewhere. */
  readonly locks?: Locks;
  /** The default options of all locks. Give them only with `url` or `backend`: `locks` have their own. */
  readonly defaults?: LocksDefaults;
  /** How long a shutdown lets `@Leading` and `@OnceCron` methods settle before connections close. Default 10 s, at most an hour; 0: no wait. */
  readonly settle?: Duration;
}

const NAMES = namesOf<LocksModuleOptions>({ url: true, backend: true, locks: true, defaults: true, settle: true });
const DEFAULT_SETTLE_MS = 10_000;
const MAX_SETTLE_MS = 3_600_000;

/** @throws LockError `LOCK_INVALID`, naming the option and what it must be */
export function modulePlan(options: LocksModuleOptions) {
  if (typeof options !== 'object' || options === null)
    throw invalid(
      `the options of LocksModule are ${shown(options)}; give an object such as { url: 'redis://127.0.0.1' }`,
    );
  checkNames(options, NAMES, 'the options of LocksModule');
  const { url, backend, locks, defaults, settle = DEFAULT_SETTLE_MS } = options;
  const given = Object.entries({ url, backend, locks }).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  if (given.length !== 1)
    throw invalid(`LocksModule needs one of url, backend and locks; it was given ${given.join(' and ') || 'none'}`);
  if (locks !== undefined && typeof locks?.mutex !== 'function')
    throw invalid(`locks is ${shown(locks)}; make it with createLocks(backend), or give a url`);
  if (locks !== undefined && defaults !== undefined)
    throw invalid('defaults go with url or backend; locks that are made already have their own');
  return {
    settle: milliseconds(settle, 'settle', { min: 0, max: MAX_SETTLE_MS }),
    async open(): Promise<Locks> {
      if (locks) return locks;
      if (backend) return createLocks(backend, defaults);
      // Imported only here, so that an application with its own backend does not load all others.
      const { connect } = await import('../connect/index.ts');
      return connect(url!, defaults);
    },
  };
}
