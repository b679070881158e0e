import type { Clock } from '../../core/contract/clock.ts';
import { onceFor, withLimit } from '../../core/contract/promises.ts';
import type { RegisterEntry, RegisterStore, Written } from '../../core/contract/register-store.ts';

/** A change is given up after so many writes in a row that were refused. */
export const MOST_CONFLICTS = 64;
/** Longest time for one request, ms: less than the core has patience for, so that a step that follows can still be taken. */
const LIMIT = 4_000;

/** Whether the store took a write. */
export const took = (written: Written): boolean => written === true || typeof written === 'string';

/** The store with a limit around every request. */
export class Calls {
  readonly store: RegisterStore;
  readonly clock: Clock;
  readonly prefix: string;
  /**
   * Before the first line is written: whether the store keeps to versions.
   * @throws LockError `LOCK_UNSUPPORTED`
   */
  readonly proved: () => Promise<void>;

  constructor(store: RegisterStore, prefix: string, clock: Clock, prove: (calls: Calls) => Promise<void>) {
    this.store = store;
    this.prefix = prefix;
    this.clock = clock;
    this.proved = onceFor(() => prove(this));
  }

  read(key: string): Promise<RegisterEntry | undefined> {
    return this.limit((signal) => this.store.read(key, signal), 'a read');
  }

  write(key: string, text: string, ifVersion: string | undefined): Promise<Written> {
    return this.limit((signal) => this.store.write(key, text, ifVersion, signal), 'a write');
  }

  /** Short, random, and of one write alone. */
  mark(): string {
    return this.clock.id().slice(0, 16);
  }

  async limit<T>(act: (signal: AbortSignal) => Promise<T>, what: string): Promise<T> {
    const end = new AbortController();
    const late = (): Error => new Error(`${this.store.name} did not answer ${what} within ${LIMIT} ms`);
    try {
      return await withLimit(act(end.signal), LIMIT, late, this.clock);
    } finally {
      end.abort();
    }
  }
}
