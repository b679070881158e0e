import assert from 'node:assert/strict';
import {
  type Backend,
  type Claim,
  type Clock,
  EXCLUSIVE,
  type LockOptions,
  listOf,
  type QueueEntry,
  systemClock,
} from '../../src/core/index.ts';
import { createLocks, type Locks, type LocksDefaults } from '../../src/locks.ts';
import { limited } from './limited.ts';
import type { ManualClock } from './manual-clock.ts';
import { Participant, Watching } from './participant.ts';
import { randomFrom } from './random.ts';

/** A backend to test. */
export interface Subject {
  /** The name that failures show. */
  readonly name: string;
  /**
   * Opens one more client to the same engine, as another process would. The suite closes the client. Some cases use keys as
   * simple as `a`, so nobody else may use the prefix.
   */
  open(): Promise<Backend>;
  /** Opens a client to the same engine with another prefix. */
  apart?(): Promise<Backend>;
  /** The clock of the engine, if it takes one. The suite moves the clock, so no case waits in real time. */
  readonly clock?: ManualClock;
  /** How quick the engine is. Default: quick. */
  readonly timing?: Timing;
  /** Default options of all locks that the laws take. A law may override them. */
  readonly options?: LockOptions;
  /** How to disturb a client. Default: not at all. */
  readonly faults?: Faults;
  /** The seed of the random cases. Default: a random number. A failure names the seed. */
  readonly seed?: number;
}

/** The times that the laws use. */
export interface Timing {
  /** A short ttl, ms. Default 700, or the least ttl of the engine if that is longer. */
  readonly ttl?: number;
  /** How late the engine or this machine may be, ms. Default 250. */
  readonly tolerance?: number;
}

/** Ways to disturb a client of `open`. A case that needs a missing way does nothing, and its outcome says so. */
export interface Faults {
  /** Breaks the client's connections without a last message, as the death of a process does. */
  die?(client: Backend): Promise<void>;
  /** Holds back what the client sends, until you call the returned function. */
  stall?(client: Backend): Promise<() => Promise<void>>;
}

type Mutex = ReturnType<Locks['mutex']>;

/** Long enough for several renewals, also in a process that stalls now and then. */
const TTL_MS = 700;
const TOLERANCE_MS = 250;
/** A claim with this ttl does not expire while a case runs. */
const LONG_TTL_MS = 60_000;
/** How many tolerances, after a ttl, a case waits for an event. */
const MAX_TOLERANCES = 16;
const MAX_CLEAN_UP_MS = 5_000;
/** Short pauses between attempts, so that engines without wake-ups do not make the suite slow. */
const SPIN = { pause: 2, bound: 20 };

/** What a case works with: two clients of one engine, a key that no other case uses, and the claims for this key. */
export class Scene {
  readonly subject: Subject;
  /** As of two processes. */
  readonly clients: readonly [Backend, Backend];
  readonly clock: Clock;
  readonly key: string = `conformance/${systemClock.id()}`;
  /** The ttl of a lease that must expire in the case, ms. `expired` waits longer. */
  readonly ttl: number;
  readonly tolerance: number;
  readonly seed: number;
  readonly random: () => number;
  readonly #participants: Participant[] = [];
  readonly #others: Backend[] = [];
  readonly #locks: Locks[] = [];

  private constructor(subject: Subject, clients: readonly [Backend, Backend]) {
    this.subject = subject;
    this.clients = clients;
    this.clock = subject.clock ?? systemClock;
    this.ttl = subject.timing?.ttl ?? Math.max(TTL_MS, clients[0].traits.ttl.min);
    this.tolerance = subject.timing?.tolerance ?? TOLERANCE_MS;
    this.seed = subject.seed ?? Math.floor(systemClock.random() * 2 ** 31);
    this.random = randomFrom(this.seed);
  }

  static async open(subject: Subject): Promise<Scene> {
    return new Scene(subject, [await subject.open(), await subject.open()]);
  }

  /** Makes the next claim. By default the two clients take turns. */
  participant(wish: Partial<Claim> = {}, client?: Backend): Participant {
    const number = this.#participants.length;
    const claim = {
      key: this.key,
      id: systemClock.id(),
      ...EXCLUSIVE,
      ttl: Math.min(LONG_TTL_MS, this.clients[0].traits.ttl.max),
      queue: true,
      tokenCount: 1,
      within: LONG_TTL_MS,
      label: `participant ${number + 1}`,
      ...wish,
    };
    const participant = new Participant(client ?? this.clients[number % 2]!, claim, this.clock);
    this.#participants.push(participant);
    return participant;
  }

  /** Makes a claim that does not wait in the queue. */
  passing(wish: Partial<Claim> = {}, client?: Backend): Participant {
    return this.participant({ queue: false, ...wish }, client);
  }

  /** Makes the next claim, which must be granted. */
  async holder(wish?: Partial<Claim>, client?: Backend): Promise<Participant> {
    const holder = this.participant(wish, client);
    await holder.gets();
    return holder;
  }

  /** Makes the next claim, which must be refused and waits in the queue. */
  async waiter(wish?: Partial<Claim>, client?: Backend): Promise<Participant> {
    const waiter = this.participant(wish, client);
    await waiter.waits();
    return waiter;
  }

  /** Opens one more client, with the same prefix (`open`) or another one (`apart`). */
  async another(open: 'open' | 'apart' = 'open'): Promise<Backend> {
    const client = await this.subject[open]!();
    this.#others.push(client);
    return client;
  }

  get patience(): number {
    return this.ttl + this.tolerance * MAX_TOLERANCES;
  }

  /** @param sent when the last attempt was sent, ms of `clock` */
  watch(participant: Participant, sent?: number): Promise<Watching> {
    return Watching.by(participant, this.patience, this.clock, sent);
  }

  /** The locks of one process, over `client` or over a new one. */
  async locks(defaults: LocksDefaults = {}, client?: Backend): Promise<Locks> {
    const common = { clock: this.clock, spin: SPIN, ...this.subject.options };
    const locks = createLocks(client ?? (await this.another()), { ...common, ...defaults });
    this.#locks.push(locks);
    return locks;
  }

  async processes(defaults?: LocksDefaults): Promise<[Locks, Locks]> {
    return [await this.locks(defaults), await this.locks(defaults)];
  }

  /** The mutex of the key in two processes. */
  async mutexes(defaults?: LocksDefaults): Promise<[here: Mutex, there: Mutex]> {
    const [here, there] = await this.processes(defaults);
    return [here.mutex(this.key), there.mutex(this.key)];
  }

  /** Lists the claims of all keys with this prefix. */
  entries(prefix: string = this.key): Promise<QueueEntry[]> {
    return listOf(this.clients[1].inspect!(prefix));
  }

  pass(ms: number): Promise<void> {
    return new Promise((resolve) => this.clock.after(ms, resolve));
  }

  /** Waits until a lease of `ttl` is over, for the engine and for all clients. */
  expired(ttl: number = this.ttl): Promise<void> {
    return this.pass(ttl + this.tolerance);
  }

  /** Waits for `work`, at most for `patience`: also long enough for cleaning up in the background. */
  soon<T>(work: Promise<T>, what: string): Promise<T> {
    return limited(work, this.patience, `${what}: not within ${this.patience} ms`, this.clock);
  }

  /** Waits until the key has neither a hold nor a waiting claim. */
  async isFree(key: string = this.key): Promise<void> {
    const until = this.clock.now() + this.patience;
    for (;;) {
      const probe = this.passing({ key });
      const { granted } = await probe.attempt();
      if (granted) await probe.leaves();
      const left = this.clients[1].inspect ? (await this.entries(key)).filter((entry) => entry.key === key) : [];
      if (granted && left.length === 0) return;
      const shown = left.map(({ label, held }) => `${label} ${held ? 'holds' : 'waits'}`).join(', ') || 'unknown';
      assert.ok(this.clock.now() < until, `${JSON.stringify(key)} must be free by now; still there: ${shown}`);
      await this.pass(this.tolerance / 25);
    }
  }

  async close(): Promise<void> {
    // A law may leave the engine or a client in any state, so an error here is no failure of the case.
    const over = async (work: readonly Promise<unknown>[]): Promise<void> => {
      await limited(Promise.allSettled(work), MAX_CLEAN_UP_MS, '', this.clock).catch(() => {});
    };
    await over(this.#participants.map((participant) => participant.release()));
    await over(this.#locks.map((locks) => locks.close()));
    await over([...this.clients, ...this.#others].map((client) => client.close()));
  }
}
