import type { Backend, Run } from '../../core/backend.ts';
import type { Clock } from '../../core/clock.ts';
import { invalid, isLockError, type LockError } from '../../core/errors.ts';
import { areNew, type Bounds, type Looked, restsUntil } from './guard.ts';
import { Memory } from './memory.ts';

/** How often a node that does not count is looked at again. ms. */
const LOOK = 500;

/** The identities of all nodes, and what they have in common. */
export interface Identities extends Bounds {
  readonly clock: Clock;
  /** Whether a node that started anew is kept from counting. */
  readonly guarded: boolean;
  readonly all: Identity[];
}

/** Which run of which server a node is, and whether its votes count. */
export class Identity {
  readonly #backend: Backend;
  readonly #title: string;
  readonly #shared: Identities;
  readonly #memory: Memory;
  /** As it was told last. */
  #told: string | Run | undefined;
  #run: Run | undefined;
  /** When the run was recognised. */
  #knownAt = 0;
  /** The latest that it may have begun. */
  #since = Number.NEGATIVE_INFINITY;
  #restarted = false;
  /** The longest lease that another run was to remember, ms. */
  #forgotten = 0;
  #looked: Looked | undefined;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #lookAgain = 0;
  #counts = false;
  #nameless: boolean;
  /** Has never been a server of its own. */
  #twin: Identity | undefined;

  constructor(backend: Backend, title: string, shared: Identities) {
    this.#backend = backend;
    this.#title = title;
    this.#shared = shared;
    this.#memory = new Memory(backend, shared.maxTtl);
    this.#nameless = !backend.incarnation;
    shared.all.push(this);
  }

  /** Nobody can see whether it started anew. */
  get nameless(): boolean {
    return this.#nameless;
  }

  /** Why its votes do not count now. */
  get doubt(): Error | undefined {
    if (this.#counts || !this.#looked || !this.#shared.guarded) return undefined;
    const now = this.#shared.clock.now();
    const rest = this.#restsUntil(now) - now;
    if (rest <= 0) {
      this.#countFree(now);
      return undefined;
    }
    if (now >= this.#lookAgain) {
      this.#lookAgain = now + LOOK;
      void this.#lookAround(Number.POSITIVE_INFINITY);
    }
    return restsFor(rest);
  }

  /** It is the server that another node is, and has never been one of its own. */
  get isTwin(): boolean {
    return this.#twin !== undefined;
  }

  /**
   * Looks whether that is over: a client may have been led to another server for a moment.
   * @throws LockError `LOCK_INVALID` when it is not
   */
  async part(): Promise<void> {
    await this.#twin?.ask().catch(() => {}); // it may be the one that is where it does not belong
    await this.ask();
  }

  /** Finds out which run of which server it is. */
  ask(): Promise<void> {
    return this.#know(this.#nameless ? undefined : this.#backend.incarnation!(), 0);
  }

  /**
   * Asked after a grant of `ttl`: where the run is still the one that was known, the grant is of that run too. Then, and when it
   * remembers the lease, there is nothing to wait for.
   */
  known(ttl: number, now: number): void | Promise<void> {
    const told = this.#nameless ? undefined : this.#backend.incarnation!();
    const same = told === this.#told && !this.#twin;
    if (same && (!this.#remembered || this.#memory.has(ttl, now)) && (this.#looked || !this.#remembered)) return;
    return this.#know(told, ttl);
  }

  /** Has the node remember leases before it renews to them. */
  remember(ttl: number): void | Promise<void> {
    const now = this.#shared.clock.now();
    if (this.#remembered && !this.#memory.has(ttl, now)) return this.#memory.note(ttl, now);
  }

  /** Notes are for nodes that start anew; where none can, nobody needs them. */
  get #remembered(): boolean {
    return this.#shared.guarded && this.#shared.all.some(({ nameless }) => !nameless);
  }

  async #know(asked: string | Run | undefined | Promise<string | Run>, ttl: number): Promise<void> {
    const told = await this.#named(asked);
    const { clock } = this.#shared;
    const now = clock.now();
    if (told !== undefined) this.#recognise(told, now);
    if (!this.#remembered) return;
    if (!this.#looked) {
      await this.#look();
      // A node that hangs must not keep the others waiting: until it is heard it is one that remembers nothing.
      if (this.#looked && this.#restsUntil(now) > now) await Promise.race([this.#lookAround(), this.#moment()]);
    }
    if (ttl === 0 || this.#memory.has(ttl, now)) return;
    // A lease is written down only after the run is marked, and so only where votes count: whoever finds a lease where no run is
    // marked cannot tell a new quorum from one that lost its data.
    if (!this.#looked) throw new Error('started anew while it was asked');
    if (!this.#counts) {
      const rest = this.#restsUntil(now) - now;
      if (rest > 0) throw restsFor(rest);
      await this.#countFree(now).get(this);
    }
    await this.#memory.note(ttl, now);
    if (this.#run) void this.#memory.mark(this.#run, undefined).catch(() => {}); // that note has to last as long
  }

  #moment(): Promise<void> {
    return new Promise((resolve) => this.#shared.clock.after(LOOK / 2, resolve, true));
  }

  /** Where the right to ask is missing there is no name, and so no guard. */
  async #named(asked: string | Run | undefined | Promise<string | Run>): Promise<string | Run | undefined> {
    try {
      return await asked;
    } catch (error) {
      if (!isLockError(error)) throw error;
      this.#nameless = true;
      return undefined;
    }
  }

  #recognise(told: string | Run, now: number): void {
    const run: Run = typeof told === 'string' ? { id: told } : told;
    this.#told = told;
    const other = this.#shared.all.find((each) => each !== this && each.#run?.id === run.id);
    if (other) {
      if (!this.#run) this.#twin = other;
      this.#told = undefined; // asked again with the next vote: it may be over
      throw this.#twin ? this.#sameAs(other) : new Error(`is the same server as ${other.#title} for now`);
    }
    this.#twin = undefined;
    if (run.id === this.#run?.id) return;
    const before = this.#run;
    const began = run.age === undefined ? now : now - run.age;
    // One that ran already while the other one answered is another server, and not that one started anew.
    const since = before && began < this.#knownAt ? now : began;
    const counts = run.age === undefined && !before; // it cannot be told whether it started anew
    this.#run = run;
    this.#knownAt = now;
    this.#counts = counts;
    this.#looked = undefined;
    this.#since = since;
    this.#restarted ||= before !== undefined;
    this.#forgotten = Math.max(this.#forgotten, this.#memory.forget());
  }

  #sameAs(other: Identity): LockError {
    return invalid(`${other.#title} and ${this.#title} of a quorum are the same server; give it independent ones`);
  }

  /** All at once: the mark of one would be taken for a sign that the others are not new. @returns when each says so */
  #countFree(now: number): ReadonlyMap<Identity, Promise<void>> {
    const free = this.#shared.all.filter((each) => !each.#counts && each.#looked && each.#restsUntil(now) <= now);
    const born = areNew(this.#views()) ? this.#shared.all.flatMap((each) => each.#run?.id ?? []) : undefined;
    return new Map(free.map((each) => [each, each.#count(each.#looked!, born)]));
  }

  async #count(looked: Looked, born: readonly string[] | undefined): Promise<void> {
    this.#counts = true;
    this.#looked = { ...looked, marked: looked.run };
    // Whoever comes later waits as long as this one did. Without an answer that is all: its votes count.
    if (this.#run) await this.#memory.mark(this.#run, born).catch(() => {});
  }

  #restsUntil(now: number): number {
    return restsUntil(this.#looked!, this.#views(), now, this.#shared);
  }

  /** What is known of all nodes, as far as they were asked since this run began. */
  #views(): (Looked | undefined)[] {
    const { all } = this.#shared;
    return all.map((each) => (each === this || each.#lookedAt >= this.#since ? each.#looked : undefined));
  }

  /** What the others remember of the time before this run: those are asked who were not asked since, or all again. */
  async #lookAround(since = this.#since): Promise<void> {
    const asked = this.#shared.all.filter((each) => each.#lookedAt < since);
    await Promise.all(asked.map((each) => each.#look().catch(() => {})));
  }

  async #look(): Promise<void> {
    if (!this.#run && !this.#nameless) return; // it is looked at when it has said who it is
    const run = this.#run ?? { id: '' };
    const now = this.#shared.clock.now();
    let found = await this.#memory.look(run);
    if (this.#restarted && found.remembers && found.longest === 0 && this.#forgotten > 0) {
      // It came back empty. Whoever comes later would take it for new, were all the others empty, too.
      await this.#memory.note(this.#forgotten, now);
      found = { ...found, longest: this.#forgotten };
    }
    if (run.id !== (this.#run?.id ?? '')) return;
    const marked = this.#run && !this.#counts ? found.marked : run.id;
    this.#looked = { run: run.id, since: this.#since, restarted: this.#restarted, ...found, marked };
    this.#lookedAt = now;
  }
}

function restsFor(rest: number): Error {
  return new Error(
    `started anew: what it granted before may be forgotten, so it does not count for another ${Math.ceil(rest)} ms`,
  );
}
