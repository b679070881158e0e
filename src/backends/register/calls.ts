import {
  type Clock,
  type LockError,
  type RegisterEntry,
  type RegisterStore,
  readEntry,
  type WriteOutcome,
  writeOutcome,
} from '../../core/index.ts';

/** A change is given up after so many writes in a row that were refused. */
export const MAX_CONFLICTS = 64;
/** Longest time for one request, ms: less than the core has patience for, so that a step that follows can still be taken. */
const LONGEST = 4_000;
/** The time that a request has even for the shortest lease, ms. */
const SHORTEST = 100;

/** The proof that the store keeps to versions. It comes before the first write of a queue. */
export interface Proof {
  passed(): Promise<void>;
  /** The error for what lives for so many ms, where the store would remove it before its end: known when the proof has passed. */
  refusal(life: number): LockError | undefined;
  /** A caller waits for `within` ms at most, and the proof is a part of that. */
  hurry(within: number): void;
}

/**
 * The store with a limit around every request. The answer to one may be lost, as at a cut, and what is asked of the same key waits for it
 * in this process: so it is given up when a lease has passed, or the part of it that a renewal has.
 */
export class Calls {
  readonly store: RegisterStore;
  readonly clock: Clock;
  readonly prefix: string;
  readonly proof: Proof | undefined;
  #limit = LONGEST;
  /** Each puts the limit of now on a request that is under way. */
  readonly #hurries = new Set<() => unknown>();

  constructor(store: RegisterStore, prefix: string, clock: Clock, proof?: Proof) {
    this.store = store;
    this.prefix = prefix;
    this.clock = clock;
    this.proof = proof;
  }

  /** The same, with a limit of its own. */
  apart(): Calls {
    return new Calls(this.store, this.prefix, this.clock, this.proof);
  }

  /** Something is asked that waits for so many ms, also for the request that is under way. */
  hurry(within: number): void {
    this.proof?.hurry(within);
    const before = this.#limit;
    this.#limit = Math.min(LONGEST, Math.max(SHORTEST, within));
    if (this.#limit < before) for (const hurry of this.#hurries) hurry();
  }

  async read(key: string): Promise<RegisterEntry> {
    return readEntry(await this.limited((signal) => this.store.read(key, signal), 'a read'), this.store);
  }

  async write(key: string, text: string, ifVersion: string | undefined): Promise<WriteOutcome> {
    const written = await this.limited((signal) => this.store.write(key, text, ifVersion, signal), 'a write');
    return writeOutcome(written, this.store);
  }

  /** Short, random, and of one write alone. */
  mark(): string {
    return this.clock.id().slice(0, 16);
  }

  /** @param what it is, in an error */
  async limited<T>(act: (signal: AbortSignal) => Promise<T>, what: string): Promise<T> {
    const { clock, store } = this;
    const end = new AbortController();
    const late = Promise.withResolvers<never>();
    const sent = clock.now();
    const giveUp = (): void => {
      late.reject(new Error(`${store.name} did not answer ${what} within ${Math.round(clock.now() - sent)} ms`));
    };
    const timers = [clock.after(this.#limit, giveUp)];
    const hurry = (): unknown => timers.push(clock.after(this.#limit, giveUp));
    this.#hurries.add(hurry);
    try {
      return await Promise.race([act(end.signal), late.promise]);
    } finally {
      for (const cancel of timers) cancel();
      this.#hurries.delete(hurry);
      end.abort();
    }
  }
}
