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

/** After so many refused writes in a row, a change is given up. */
export const MAX_CONFLICTS = 64;
/** The longest time for one request, ms: less than the time for which the core waits, so that another request can follow. */
const MAX_REQUEST_MS = 4_000;
/** The shortest limit of a request, ms. */
const MIN_REQUEST_MS = 100;

/** Some stores take only one write of an object in this time, ms. */
const WRITE_INTERVAL_MS = 1_000;
const MAX_RESENDS = 2;

/** The store refused a write because the object is written too often. Nobody knows whether the condition of the write was met. */
export class Throttled extends Error {}

/** A test of whether the store keeps the conditions of writes. It runs before the first write of a queue. */
export interface Proof {
  passed(): Promise<void>;
  /** How long the store keeps what is written, ms; Infinity while no limit is known. */
  readonly kept: number;
  /** @returns an error if the store would remove something that has to live for `life` ms; right only after `passed` has resolved */
  refusal(life: number): LockError | undefined;
  /** Limits the requests of the test to `within` ms, since a caller waits no longer. */
  hurry(within: number): void;
}

/**
 * The store, with a time limit for every request. If an answer is lost, as when a connection is cut, later requests of this process for
 * the same key wait for that answer. So a request is given up after the time that a caller can wait: its lease, or a part of the lease.
 */
export class Calls {
  readonly store: RegisterStore;
  readonly clock: Clock;
  readonly prefix: string;
  readonly proof: Proof | undefined;
  #limit = MAX_REQUEST_MS;
  /** Each function applies the present limit to a request under way. */
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

  /** Limits all requests to `within` ms from now on, also the one under way, since a caller waits no longer. */
  hurry(within: number): void {
    this.proof?.hurry(within);
    const before = this.#limit;
    this.#limit = Math.min(MAX_REQUEST_MS, Math.max(MIN_REQUEST_MS, within));
    if (this.#limit < before) for (const hurry of this.#hurries) hurry();
  }

  async read(key: string): Promise<RegisterEntry> {
    return readEntry(await this.limited((signal) => this.store.read(key, signal), 'a read'), this.store);
  }

  /** @throws Throttled after some attempts, each of which came too soon after another write */
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

  /** @returns a short random mark for a write */
  mark(): string {
    return this.clock.id().slice(0, 16);
  }

  /** @param what names the request in an error */
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
