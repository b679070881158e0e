import { backOff, LockError, RecentKeys, sleep } from '../../core/index.ts';
import { StoredNames } from '../shared/names.ts';
import { faultOf, isBusy } from './errors.ts';
import { machineTime } from './machine.ts';
import type { ResolvedFileOptions } from './options.ts';
import { Store } from './store.ts';
import { type FileClaims, FileTransaction, type TransactionContext } from './transaction.ts';
import { OwnSocket, type PeerEvents, Peers } from './wake-ups.ts';

/** The longest wait for the transactions of others, ms. A transaction takes microseconds, unless its process is stopped. */
const MAX_STEP_MS = 2_000;
/** Attempts in a row before a pause. Mostly the other process has ended its transaction before the next attempt. */
const ATTEMPTS_AT_ONCE = 4;
const BUSY = { pause: 1, bound: 16, jitter: 0.5 };

/** The number of keys whose claims this process keeps in memory. */
const MAX_KNOWN_KEYS = 1_000;

interface OpenFile extends TransactionContext {
  readonly tokens: Store;
  readonly peers: Peers;
}

type Work<T> = (turn: FileTransaction, opened: OpenFile) => T;

/** The file, and the sockets of its processes. The first step opens both; a later step does so after a failure, or if the file was replaced. */
export class LocksFile {
  readonly #options: ResolvedFileOptions;
  readonly #events: PeerEvents;
  #opened: OpenFile | undefined;
  #opening: Promise<void> | undefined;
  #closed: Promise<void> | undefined;

  constructor(options: ResolvedFileOptions, events: PeerEvents) {
    this.#options = options;
    this.#events = events;
  }

  /**
   * Does one step as soon as the file is open and no other process is in a transaction. This tries again and again, and never waits
   * inside SQLite: while another process is stopped in its transaction, such a wait would stop this process, too.
   * @throws LockError a definite refusal
   * @throws Error when other processes kept the file busy for too long, or when the outcome is unknown
   */
  async transact<T>(work: Work<T>, within: number = MAX_STEP_MS): Promise<T> {
    const { path, clock } = this.#options;
    const limit = Math.min(within, MAX_STEP_MS);
    const until = machineTime() + limit;
    for (let attempts = 1; ; attempts++) {
      try {
        if (!this.#ready()) await this.#open();
        const opened = this.#ready();
        if (opened) return this.#step(opened, work);
      } catch (error) {
        if (!isBusy(error)) throw faultOf(error, path);
        if (machineTime() >= until) {
          const what = `another process has been inside a transaction on ${path} for ${limit} ms`;
          throw new Error(`${what}: it may be stopped; continue or end it`, { cause: error });
        }
      }
      const pauses = attempts / ATTEMPTS_AT_ONCE - 1;
      if (Number.isInteger(pauses)) await this.pause(backOff(BUSY, pauses, clock.random()));
    }
  }

  /** Repeats a step until it returns true: its work is done. */
  async finish(part: Work<boolean>): Promise<void> {
    while (!(await this.transact(part))) await this.pause(0);
  }

  pause(ms: number): Promise<void> {
    return sleep(this.#options.clock, ms);
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    await this.#opening?.catch(() => {});
    const opened = this.#opened;
    this.#opened = undefined;
    await opened?.peers.close();
    opened?.tokens.close();
  }

  #step<T>(opened: OpenFile, work: Work<T>): T {
    const { tokens: store, peers, known } = opened;
    let turn!: FileTransaction;
    let result: T;
    try {
      result = store.transact((sql, now) => {
        turn = new FileTransaction(opened, sql, now);
        return work(turn, opened);
      });
    } catch (error) {
      known.clear(); // the known claims have changes that SQLite has rolled back
      throw error;
    }
    const { admitted, evicted } = turn;
    for (const claim of evicted ? [evicted, ...admitted] : admitted) {
      const { process = '', id, token } = claim;
      const message = { id, token: Number(token), ...(claim === evicted && { evicted: true }) };
      if (process === peers.name) this.#events.onMessage(message);
      else peers.notify(process, message);
    }
    for (const process of turn.ahead) peers.watch(process);
    return result;
  }

  #ready(): OpenFile | undefined {
    if (this.#closed) throw new LockError('LOCK_CLOSED', 'this file backend is closed', { backend: 'file' });
    if (this.#opened?.tokens.replaced) {
      void this.#opened.peers.close();
      this.#opened.tokens.close();
      this.#opened = undefined;
    }
    return this.#opened;
  }

  #open(): Promise<void> {
    this.#opening ??= this.#start().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  async #start(): Promise<void> {
    const { path, durability, clock, prefix } = this.#options;
    const store = await Store.open(path, durability);
    const own = await OwnSocket.open(store.path, clock, (message) => this.#events.onMessage(message));
    const peers = new Peers(own, clock, this.#events);
    const id = clock.id();
    let versions = 0;
    const newVersion = (): string => `${id}/${++versions}`;
    const known = new RecentKeys<FileClaims>(MAX_KNOWN_KEYS);
    const names = new StoredNames(prefix);
    this.#opened = { tokens: store, peers, process: peers.name, names, known, newVersion };
    void peers.tidy();
  }
}
