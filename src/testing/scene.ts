import assert from 'node:assert/strict';
import {
  type Backend,
  type Claim,
  type Clock,
  EXCLUSIVE,
  type QueueEntry,
  type Spin,
  systemClock,
} from '../core/index.ts';
import { createLocks, type Locks, type LocksDefaults } from '../locks.ts';
import { Contender } from './contender.ts';
import { limited } from './limited.ts';
import { randomFrom } from './random.ts';
import type { Subject } from './subject.ts';
import { Watching } from './watching.ts';

/** A hold is renewed several times in it, also by a process that stalls now and then. */
const TTL = 700;
const TOLERANCE = 250;
/** The ttl of a claim that must not expire while a case runs, ms. */
const LONG = 60_000;
/** After so many tolerances, what has not come never will. */
const PATIENCE = 16;
/** The time for cleaning up after a case, ms. */
const CLEAN_UP = 5_000;
/** Short pauses, so that engines without wake-ups do not make the suite slow. */
const SPIN: Spin = { pause: 2, bound: 20 };

/** The place where a case attempts a law: two clients of one engine, a key of its own, and the claims for it. */
export class Scene {
  readonly subject: Subject;
  /** Like those of two processes. */
  readonly clients: readonly [Backend, Backend];
  readonly clock: Clock;
  readonly key: string = `conformance/${systemClock.id()}`;
  /** The ttl of a lease that must expire in the case, ms. `expired` waits longer. */
  readonly ttl: number;
  readonly tolerance: number;
  readonly seed: number;
  readonly random: () => number;
  readonly #contenders: Contender[] = [];
  readonly #others: Backend[] = [];
  readonly #locks: Locks[] = [];

  private constructor(subject: Subject, clients: readonly [Backend, Backend]) {
    this.subject = subject;
    this.clients = clients;
    this.clock = subject.clock ?? systemClock;
    this.ttl = subject.timing?.ttl ?? Math.max(TTL, clients[0].traits.ttl.min);
    this.tolerance = subject.timing?.tolerance ?? TOLERANCE;
    this.seed = subject.seed ?? Math.floor(systemClock.random() * 2 ** 31);
    this.random = randomFrom(this.seed);
  }

  static async open(subject: Subject): Promise<Scene> {
    return new Scene(subject, [await subject.open(), await subject.open()]);
  }

  /** The next claim: the clients take turns. */
  contender(wish: Partial<Claim> = {}, client?: Backend): Contender {
    const number = this.#contenders.length;
    const claim = {
      key: this.key,
      id: systemClock.id(),
      ...EXCLUSIVE,
      ttl: Math.min(LONG, this.clients[0].traits.ttl.max),
      queue: true,
      tokenCount: 1,
      within: LONG,
      label: `contender ${number + 1}`,
      ...wish,
    };
    const contender = new Contender(client ?? this.clients[number % 2]!, claim, this.clock);
    this.#contenders.push(contender);
    return contender;
  }

  /** Two equal claims, one of each client. */
  pair(wish: Partial<Claim> = {}): [Contender, Contender] {
    return [this.contender(wish), this.contender(wish)];
  }

  /** Opens one more client, with the same prefix or with another. */
  async another(open: 'open' | 'apart' = 'open'): Promise<Backend> {
    const client = await this.subject[open]!();
    this.#others.push(client);
    return client;
  }

  get patience(): number {
    return this.ttl + this.tolerance * PATIENCE;
  }

  /** @param sent when its last attempt was sent */
  watch(contender: Contender, sent?: number): Promise<Watching> {
    return Watching.by(contender, this.patience, this.clock, sent);
  }

  /** The locks of one process, over a client of its own. */
  async locks(defaults: LocksDefaults = {}, client?: Backend): Promise<Locks> {
    const locks = createLocks(client ?? (await this.another()), {
      ...{ clock: this.clock, spin: SPIN, ...this.subject.options },
      ...defaults,
    });
    this.#locks.push(locks);
    return locks;
  }

  /** Releases that nobody waits for (`awaitRelease: false`, a linger) have arrived. */
  async arrived(): Promise<void> {
    const { awaitRelease = true, handOff } = this.subject.options ?? {};
    if (!awaitRelease || (typeof handOff === 'object' && handOff.linger)) await this.isFree();
  }

  async processes(defaults?: LocksDefaults): Promise<[Locks, Locks]> {
    return [await this.locks(defaults), await this.locks(defaults)];
  }

  /** Lists the keys of this scene. */
  async standings(prefix: string = this.key): Promise<QueueEntry[]> {
    const seen: QueueEntry[] = [];
    for await (const standing of this.clients[1].inspect!(prefix)) seen.push(standing);
    return seen;
  }

  pass(ms: number): Promise<void> {
    return new Promise((resolve) => this.clock.after(ms, resolve));
  }

  /** Waits until a lease of `ttl` is over, wherever somebody counts it. */
  expired(ttl: number = this.ttl): Promise<void> {
    return this.pass(ttl + this.tolerance);
  }

  /** Waits for what must happen before all cleaning up in the background is over. */
  soon<T>(work: Promise<T>, what: string): Promise<T> {
    return limited(work, this.patience, `${what}: not within ${this.patience} ms`, this.clock);
  }

  /** Waits until the key has neither a hold nor a place. */
  async isFree(key: string = this.key): Promise<void> {
    const until = this.clock.now() + this.patience;
    for (;;) {
      const probe = this.contender({ key, queue: false });
      const { granted } = await probe.attempt();
      if (granted) await probe.leaves();
      const standings = this.clients[1].inspect ? await this.standings(key) : [];
      const left = standings.filter((standing) => standing.key === key);
      if (granted && left.length === 0) return;
      const shown = left.map(({ label, held }) => `${label} ${held ? 'holds' : 'waits'}`).join(', ');
      assert.ok(
        this.clock.now() < until,
        `${JSON.stringify(key)} must be free by now; still there: ${shown || 'unknown'}`,
      );
      await this.pass(this.tolerance / 25);
    }
  }

  async close(): Promise<void> {
    // A law may leave the engine or a client in any state. Only the outcome of the law counts.
    const over = async (work: readonly Promise<unknown>[]): Promise<void> => {
      await limited(Promise.allSettled(work), CLEAN_UP, '', this.clock).catch(() => {});
    };
    await over(this.#contenders.map((contender) => contender.release()));
    await over(this.#locks.map((locks) => locks.close()));
    await over([...this.clients, ...this.#others].map((client) => client.close()));
  }
}
