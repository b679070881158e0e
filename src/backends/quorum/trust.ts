import type { Backend } from '../../core/contract/backend.ts';
import type { Clock } from '../../core/contract/clock.ts';
import { areNew, type NodeView, type QuorumBounds, restsUntil, seemNew } from './guard.ts';
import { Identity, type Named } from './identity.ts';
import { Memory } from './memory.ts';

/** The first pause before a node that does not count is read again, and the longest pause, ms. */
const SOON = 50;
const LOOK = 500;

/** The state that the nodes of one quorum share. */
export interface Trusts extends QuorumBounds {
  readonly clock: Clock;
  /** If true, a node that restarted does not count for a while. */
  readonly guarded: boolean;
  readonly all: Trust[];
  readonly identities: Identity[];
}

/**
 * `unseen`: its notes were not read since this run began. `resting`: they were, and its votes do not count, since it may have
 * forgotten others. `counting`: they do. Another run begins as `unseen`, or as `counting` where it cannot be told whether it
 * started anew.
 */
type State = 'unseen' | 'resting' | 'counting';

/** Decides whether the votes of one node count. */
export class Trust {
  readonly identity: Identity;
  readonly #trusts: Trusts;
  readonly #memory: Memory;
  #state: State = 'unseen';
  #view: NodeView | undefined;
  #viewedAt = Number.NEGATIVE_INFINITY;
  #looks = new Looks();
  /** The longest lease that an earlier run was asked to remember, ms. */
  #forgotten = 0;

  constructor(backend: Backend, title: string, trusts: Trusts) {
    this.#trusts = trusts;
    this.identity = new Identity(backend, title, trusts.identities);
    this.#memory = new Memory(backend, trusts.maxTtl);
    trusts.all.push(this);
  }

  /** Why its votes do not count now. */
  get doubt(): Error | undefined {
    if (this.#state !== 'resting' || !this.#trusts.guarded) return undefined;
    const now = this.#trusts.clock.now();
    const rest = this.#restsUntil(now) - now;
    if (rest <= 0) return void this.#countRestedNodes(now);
    if (this.#looks.due(now)) void this.#lookAround(Number.POSITIVE_INFINITY);
    return restsFor(rest, this.#mayBeNew);
  }

  /**
   * Looks whether it is still the server that another node is: a client may have been led to another server for a moment.
   * @throws LockError `LOCK_INVALID` when it is
   */
  async askTwin(): Promise<void> {
    const twin = this.#trusts.all.find(({ identity }) => identity === this.identity.twin);
    await twin?.ask().catch(() => {}); // it may be the one that is where it does not belong
    await this.ask();
  }

  /** Asks the node for the run of its server. */
  ask(): Promise<void> {
    return this.#know(this.identity.ask(), 0);
  }

  /**
   * Asked after a grant of `ttl`: where the run is still the one that was known, the grant is of that run too. Then, and when it
   * remembers the lease, there is nothing to wait for.
   */
  known(ttl: number, now: number): void | Promise<void> {
    const told = this.identity.ask();
    if (this.identity.isSame(told) && ((this.#view && this.#memory.has(ttl, now)) || !this.#isRemembered)) return;
    return this.#know(told, ttl);
  }

  /** Has the node remember a lease before it renews a claim to that lease. */
  remember(ttl: number): void | Promise<void> {
    const { clock } = this.#trusts;
    if (this.#isRemembered && !this.#memory.has(ttl, clock.now())) return this.#memory.note(ttl, clock.now());
  }

  /** Notes protect against nodes that restart. If no node can show a restart, no process needs the notes. */
  get #isRemembered(): boolean {
    return this.#trusts.guarded && this.#trusts.identities.some(({ nameless }) => !nameless);
  }

  async #know(asked: Named | Promise<Named>, ttl: number): Promise<void> {
    const told = await this.identity.named(asked);
    const now = this.#trusts.clock.now();
    if (told !== undefined && this.identity.recognise(told, now)) this.#beginAnew();
    if (!this.#isRemembered) return;
    if (!this.#view) {
      await this.#look();
      // A node that hangs must not delay the others: until it answers, it counts as a node that remembers nothing.
      const moment = (done: () => void): unknown => this.#trusts.clock.after(LOOK / 2, done, true);
      if (this.#view && this.#restsUntil(now) > now)
        await Promise.race([this.#lookAround(), new Promise<void>(moment)]);
    }
    if (ttl === 0 || this.#memory.has(ttl, now)) return;
    // A lease is written down only after the run is marked, and so only where votes count: a process that finds a lease where no run is
    // marked cannot tell a new quorum from one that lost its data.
    if (this.#state === 'resting') {
      const rest = this.#restsUntil(now) - now;
      if (rest > 0) throw restsFor(rest, this.#mayBeNew);
      await this.#countRestedNodes(now).get(this);
      if (this.#state === 'resting') throw new Error('its vote does not count before one of a node that names its run');
    } else if (!this.#view) throw new Error('started anew while it was asked');
    await this.#memory.note(ttl, now);
    void this.#memory.mark(this.identity.run, undefined).catch(() => {}); // that note has to last as long
  }

  #beginAnew(): void {
    const { run, restarted } = this.identity;
    this.#state = run?.age === undefined && !restarted ? 'counting' : 'unseen';
    this.#view = undefined;
    this.#looks = new Looks();
    this.#forgotten = Math.max(this.#forgotten, this.#memory.forget());
  }

  /** All at once: the mark of one would be taken for a sign that the others are not new. @returns when each says so */
  #countRestedNodes(now: number): ReadonlyMap<Trust, Promise<void>> {
    const { all, identities, majority } = this.#trusts;
    const free = all.filter((each) => each.#state === 'resting' && each.#restsUntil(now) <= now);
    const votes = all.filter((each) => each.identity.nameless || each.#state === 'counting' || free.includes(each));
    if (areTooFew(votes, majority)) return new Map();
    const born = areNew(this.#views()) ? identities.flatMap(({ run }) => run?.id ?? []) : undefined;
    return new Map(free.map((each) => [each, each.#count(born)]));
  }

  async #count(born: readonly string[] | undefined): Promise<void> {
    this.#state = 'counting';
    this.#view = { ...this.#view!, marked: this.#view!.run };
    // If the mark fails, the votes of the node count all the same, and a later process only waits as long as this one did.
    await this.#memory.mark(this.identity.run, born).catch(() => {});
  }

  #restsUntil(now: number): number {
    return restsUntil(this.#view!, this.#views(), now, this.#trusts);
  }

  get #mayBeNew(): boolean {
    return seemNew(this.#views()) && !this.identity.restarted;
  }

  /** The latest view of each node; undefined for a node that was not read since this run began. */
  #views(): (NodeView | undefined)[] {
    const isOfNow = (each: Trust): boolean => each === this || each.#viewedAt >= this.identity.since;
    return this.#trusts.all.map((each) => (isOfNow(each) ? each.#view : undefined));
  }

  /** Reads the notes of all nodes that were not read since `since`. */
  async #lookAround(since = this.identity.since): Promise<void> {
    await Promise.all(this.#trusts.all.map((each) => each.#viewedAt < since && each.#look().catch(() => {})));
  }

  async #look(): Promise<void> {
    const [{ identity }, now] = [this, this.#trusts.clock.now()];
    if (!identity.run && !identity.nameless) return; // the node is read after it has named its run
    const run = identity.run ?? { id: '' };
    let found = await this.#memory.look(run);
    if (found.remembers && found.longest === 0 && this.#forgotten > 0) {
      // The node came back empty. If all other nodes were empty too, a later process would take it for new.
      await this.#memory.note(this.#forgotten, now);
      found = { ...found, longest: this.#forgotten };
    }
    if (run.id !== (identity.run?.id ?? '')) return;
    const marked = identity.run && this.#state !== 'counting' ? found.marked : run.id;
    this.#view = { run: run.id, since: identity.since, restarted: identity.restarted, ...found, marked };
    if (this.#state === 'unseen') this.#state = 'resting';
    this.#viewedAt = now;
  }
}

/**
 * True if only nodes that name no run would vote, and they are no majority: their notes would only make the other nodes wait.
 */
function areTooFew(votes: readonly Trust[], majority: number): boolean {
  return votes.length < majority && votes.every(({ identity }) => identity.nameless);
}

/** Decides when a node that does not count is read again. */
class Looks {
  #at = 0;
  #pause = SOON;

  /** Claims the next time for a read: it returns true once per pause. */
  due(now: number): boolean {
    if (now < this.#at) return false;
    this.#at = now + this.#pause;
    this.#pause = Math.min(LOOK, this.#pause * 2);
    return true;
  }
}

function restsFor(rest: number, mayBeNew: boolean): Error {
  const why = mayBeNew
    ? 'is new, or has lost its data: which one is known when every node has answered once. Until then it does not count,'
    : 'started anew: what it granted before may be forgotten, so it does not count';
  return new Error(`${why} for another ${Math.ceil(rest)} ms`);
}
