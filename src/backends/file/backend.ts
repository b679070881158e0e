import {
  type Attempt,
  type Backend,
  type Claim,
  type Finding,
  type Grant,
  type Handle,
  type Listing,
  LONGEST_PLACE_TTL,
  type Notes,
  type Release,
  type Renewal,
  type Standing,
  type Traits,
} from '../../core/backend.ts';
import type { Clock } from '../../core/clock.ts';
import { LockError } from '../../core/errors.ts';
import { findings } from './check.ts';
import { faultOf, isBusy } from './errors.ts';
import { machineBoot, machineTime } from './machine.ts';
import { type FileOptions, type ResolvedFileOptions, resolveFileOptions } from './options.ts';
import { type Durability, Store } from './store.ts';
import { FileTransaction } from './transaction.ts';
import { Bells, type Ear, type Message } from './wake-ups.ts';

/** ms that a step may wait for other processes' transactions, each of which takes microseconds unless it is stopped. */
const PATIENCE = 2_000;
/** Tries in a row before a pause: what another process is at is mostly over within one of them. */
const AT_ONCE = 4;
/** Longest pause between tries. ms. */
const LONGEST_PAUSE = 16;
/** Holds renewed in one transaction: nobody else, this process included, waits longer for it than about a millisecond. */
const BATCH = 100;
/** One attempt in so many sweeps what lapsed under keys that nobody asks for. */
const SWEEP = 1_024;

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

/**
 * Locks between the processes of one machine, without a server: SQLite is the truth, unix sockets are the door-bells. A
 * holder that is killed is replaced within milliseconds, one that is stopped when its lease lapses.
 * @throws LockError `LOCK_INVALID`. The file is opened by the first call that needs it.
 */
export function file(options: FileOptions): Backend {
  return new FileBackend(resolveFileOptions(options));
}

interface Shop {
  readonly store: Store;
  readonly bells: Bells;
}

interface Listener {
  readonly claim: Claim;
  readonly wake: (grant?: Grant) => void;
}

/** Opens the file with the first call, and again after a failure or when the file was replaced. */
class FileBackend implements Backend, Ear {
  readonly name = 'file';
  readonly traits: Traits;
  readonly #path: string;
  readonly #durability: Durability;
  readonly #prefix: string;
  readonly #clock: Clock;
  readonly #listeners = new Map<string, Listener>();
  #shop: Shop | undefined;
  #opening: Promise<void> | undefined;
  #closed: Promise<void> | undefined;
  #attempts = 0;

  constructor({ path, durability, prefix, clock }: ResolvedFileOptions) {
    this.#path = path;
    this.#durability = durability;
    this.#prefix = prefix;
    this.#clock = clock;
    this.traits = traits(durability);
  }

  attempt(claim: Claim): Promise<Attempt> {
    const sent = machineTime();
    const sweeps = ++this.#attempts % SWEEP === 0;
    return this.#transact(
      (turn) => {
        if (sweeps) turn.sweep();
        return turn.attempt(claim, sent);
      },
      Math.min(claim.within, PATIENCE),
    );
  }

  async renew(claims: readonly Claim[]): Promise<Renewal[]> {
    const renewals: Renewal[] = [];
    for (let from = 0; from < claims.length; from += BATCH) {
      if (from > 0) await this.#pause(0);
      const batch = claims.slice(from, from + BATCH);
      renewals.push(...(await this.#transact((turn) => batch.map((claim) => turn.renew(claim)))));
    }
    return renewals;
  }

  release(handle: Handle, next?: Claim): Promise<Release> {
    const sent = machineTime();
    return this.#transact((turn) => turn.release(handle, next, sent));
  }

  watch(claim: Claim, wake: (grant?: Grant) => void): AsyncDisposable {
    const listener: Listener = { claim, wake };
    this.#listeners.set(claim.id, listener);
    return {
      [Symbol.asyncDispose]: async () => {
        if (this.#listeners.get(claim.id) === listener) this.#listeners.delete(claim.id);
      },
    };
  }

  async *inspect(prefix: string, { exact = false }: Listing = {}): AsyncIterable<Standing> {
    while (!(await this.#transact((turn) => turn.sweep()))) await this.#pause(0);
    yield* await this.#transact((turn) => turn.inspect(prefix, exact));
  }

  evict(key: string, ticket: bigint): Promise<boolean> {
    return this.#transact((turn) => turn.evict(key, ticket));
  }

  async check(): Promise<Finding[]> {
    return this.#transact((_, { store, bells }) => findings(store.path, this.#durability, bells.name));
  }

  readonly notes: Notes = {
    read: (name) => this.#transact((turn) => turn.note(name)),
    write: (name, text, ttl) => this.#transact((turn) => turn.keep(name, text, ttl)),
  };

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    await this.#opening?.catch(() => {});
    const shop = this.#shop;
    this.#shop = undefined;
    await shop?.bells.close();
    shop?.store.close();
  }

  heard({ id, ticket }: Message): void {
    const listener = this.#listeners.get(id);
    listener?.wake({ granted: true, ticket: BigInt(ticket), validFor: listener.claim.ttl });
  }

  async died(bell: string): Promise<void> {
    while (!(await this.#transact((turn) => turn.bury(bell)))) await this.#pause(0);
  }

  async parted(): Promise<void> {
    const waiting = [...this.#listeners.values()];
    const grants = await this.#transact((turn) => waiting.map(({ claim }) => turn.grant(claim)));
    for (const [i, grant] of grants.entries()) if (grant) waiting[i]!.wake(grant);
  }

  /**
   * One step, once the file is open and no other process is in the way. Never waits inside SQLite: a process that is
   * stopped in its transaction must not stop others.
   * @throws LockError a definite refusal
   * @throws Error when others were in the way for too long, or when the outcome is unknown
   */
  async #transact<T>(work: (turn: FileTransaction, shop: Shop) => T, patience: number = PATIENCE): Promise<T> {
    const until = machineTime() + patience;
    for (let tries = 1; ; tries++) {
      try {
        if (!this.#ready()) await this.#open();
        const shop = this.#ready();
        if (shop) return this.#step(shop, work);
      } catch (error) {
        if (!isBusy(error)) throw faultOf(error, this.#path);
        if (machineTime() >= until) {
          throw new Error(
            `another process has been inside a transaction on ${this.#path} for ${patience} ms: it may be stopped; continue or end it`,
            { cause: error },
          );
        }
      }
      if (tries % AT_ONCE === 0) {
        await this.#pause(Math.min(2 ** (tries / AT_ONCE - 1), LONGEST_PAUSE) * (0.5 + this.#clock.random() / 2));
      }
    }
  }

  #step<T>(shop: Shop, work: (turn: FileTransaction, shop: Shop) => T): T {
    const { store, bells } = shop;
    let turn!: FileTransaction;
    const result = store.transact((sql, now) => {
      turn = new FileTransaction(
        { prefix: this.#prefix, bell: bells.name, draw: store.draw, lift: store.lift },
        sql,
        now,
      );
      return work(turn, shop);
    });
    for (const { bell, id, ticket } of turn.called) {
      if (bell === bells.name) this.heard({ id, ticket });
      else bells.ring(bell, { id, ticket });
    }
    for (const bell of turn.ahead) bells.watch(bell);
    return result;
  }

  #ready(): Shop | undefined {
    if (this.#closed) throw new LockError('LOCK_CLOSED', 'this file backend is closed', { backend: this.name });
    if (this.#shop?.store.replaced) {
      void this.#shop.bells.close();
      this.#shop.store.close();
      this.#shop = undefined;
    }
    return this.#shop;
  }

  #open(): Promise<void> {
    this.#opening ??= this.#start().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  async #start(): Promise<void> {
    const store = await Store.open(this.#path, this.#durability);
    const bells = await Bells.open(store.path, this.#clock, this);
    this.#shop = { store, bells };
    void bells.tidy();
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resume) => this.#clock.after(ms, resume));
  }
}
