import {
  type Clock,
  type LockError,
  type RegisterEntry,
  type RegisterStore,
  readEntry,
  sleep,
  type WriteOutcome,
  writeOutcome,
} from '../../core/index.ts';

/** A change is given up after so many writes in a row that were refused. */
export const MAX_CONFLICTS = 64;
/** Longest time for one request, ms: less than the core has patience for, so that a step that follows can still be taken. */
const MAX_REQUEST_MS = 4_000;
/** The time that a request has even for the shortest lease, ms. */
const MIN_REQUEST_MS = 100;

/** Some stores take one write of an object in so many ms. */
const WRITE_INTERVAL_MS = 1_000;
const MAX_RESENDS = 2;

/** The store did nothing, because an object is written too often. Whether the condition of the write held, it does not say. */
export class Throttled extends Error {}

/** The proof that the store keeps to versions. It comes before the first write of a queue. */
export interface Proof {
  passed(): Promise<void>;
  /** For so many ms the store keeps what is written, as far as is known. */
  readonly kept: number;
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
  #limit = MAX_REQUEST_MS;
  /** Each puts the limit of now on a request that is under way. */
  readonly #hurries = new Set<() => unknown>();

  constructor(store: RegisterStore, prefix: string, clock: Clock, proof?: Proof) {
    this.store = store;
    this.prefix = prefix;
    this.clock = clock;
    this.proof = proof;
  }

  apart(): Calls {
    return new Calls(this.store, this.prefix, this.clock, this.proof);
  }

  /** Something is asked that waits for so many ms, also for the request that is under way. */
  hurry(within: number): void {
    this.proof?.hurry(within);
    const before = this.#limit;
    this.#limit = Math.min(MAX_REQUEST_MS, Math.max(MIN_REQUEST_MS, within));
    if (this.#limit < before) for (const hurry of this.#hurries) hurry();
  }

  async read(key: string): Promise<RegisterEntry> {
    return readEntry(await this.limited((signal) => this.store.read(key, signal), 'a read'), this.store);
  }

  /** @throws Throttled after some tries, each of which came too soon after another write */
  async write(
    key: string,
    text: string,
    ifVersion: string | undefined,
    maxResends = MAX_RESENDS,
  ): Promise<WriteOutcome> {
    const { clock, store } = this;
    for (let resends = 0; ; resends++) {
      try {
        const written = await this.limited((signal) => store.write(key, text, ifVersion, signal), 'a write');
        return writeOutcome(written, store);
      } catch (error) {
        if (!(error instanceof Throttled) || resends === maxResends) throw error;
      }
      await sleep(clock, WRITE_INTERVAL_MS * (1 + clock.random() / 4));
    }
  }

  /** Gives a short random mark, another one for each write. */
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
