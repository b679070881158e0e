import { type Backend, type Clock, systemClock } from '../../core/index.ts';
import { areNew, excludedUntil, LeaseMemory, type NodeView, type QuorumBounds } from './lease-memory.ts';
import { type RunName, ServerIdentity } from './server-identity.ts';

/** The first pause before a node that does not count is read again, ms. Each later pause is twice as long, up to the maximum. */
const MIN_PAUSE_MS = 50;
const MAX_PAUSE_MS = 500;
/** How long a node that hangs may delay the others, ms. */
const OTHERS_TIMEOUT_MS = 250;

export interface GuardContext extends QuorumBounds {
  readonly clock: Clock;
  /** If true, a node that restarted does not count for a while. */
  readonly guarded: boolean;
  readonly all: RestartGuard[];
  readonly identities: ServerIdentity[];
}

/**
 * `unread`: the hints of the node were not read since this run began. `excluded`: they were read, and the votes of the node do not
 * count, because it may have forgotten earlier ones. `counted`: its votes count. A new run begins as `unread`, or as `counted` if
 * the node does not show whether it restarted.
 */
type State = 'unread' | 'excluded' | 'counted';

/** Decides whether the votes of one node count. */
export class RestartGuard {
  readonly identity: ServerIdentity;
  readonly #context: GuardContext;
  readonly #memory: LeaseMemory;
  #state: State = 'unread';
  #view: NodeView | undefined;
  #readAt = Number.NEGATIVE_INFINITY;
  #schedule = new ReadSchedule();
  /** The longest lease that an earlier run was asked to remember, ms. */
  #longestForgotten = 0;

  constructor(backend: Backend, title: string, context: GuardContext) {
    this.#context = context;
    this.identity = new ServerIdentity(backend, title, context.identities, () => this.#restart());
    this.#memory = new LeaseMemory(this.identity, context.maxTtl, context.clock);
    context.all.push(this);
  }

  /** The reason why the votes of the node do not count now; undefined if they do. */
  get doubt(): Error | undefined {
    const now = this.#context.clock.now();
    const rest = this.#state === 'excluded' ? this.#excludedUntil(now) - now : 0;
    return rest > 0 ? exclusionError(rest, this.#mayBeNew, this.#context.clock) : undefined;
  }

  /** Lets the node count when its exclusion is over. Until then it reads the hints of the nodes again from time to time. */
  review(): void {
    const now = this.#context.clock.now();
    if (this.#state !== 'excluded') return;
    if (this.#excludedUntil(now) <= now) this.#countNodesAgain(now);
    else if (this.#schedule.take(now)) void this.#readOthers(Number.POSITIVE_INFINITY);
  }

  ask(): Promise<void> {
    return this.#learnRun(this.identity.ask(), 0, 0);
  }

  /** True if the node is known to remember a lease of `ttl`, or need not. */
  isReady(ttl: number): boolean {
    return !needsHints(this.#context) || (!!this.#view && this.#memory.remembers(ttl, this.#context.clock.now()));
  }

  /**
   * Call this after a grant of `ttl`. If the run is the same as when the claim was sent, this run gave the grant. If the node also remembers the
   * lease, there is nothing to wait for.
   * @throws Error, as a rejection, if the vote does not count
   */
  confirmRun(ttl: number, sent: number): void | Promise<void> {
    const answer = this.identity.ask();
    const isKept = this.#view && this.#view.since <= sent && this.#memory.remembers(ttl, sent);
    if (this.identity.isSame(answer, sent) && (isKept || !needsHints(this.#context))) return;
    return this.#learnRun(answer, ttl, sent);
  }

  /** Makes the node store a lease in its hints. Call this before a renewal, and after it: the run that took it may lack the hint of the one before. */
  remember(ttl: number): void | Promise<void> {
    if (!needsHints(this.#context)) return; // the node is not asked: if it is down, nothing would handle the failure
    const [answer, now] = [this.identity.ask(), this.#context.clock.now()];
    if (this.identity.isSame(answer, now) && this.#memory.remembers(ttl, now)) return;
    return this.identity.learn(answer, this.#context.clock).then(() => this.#memory.noteLease(ttl, now));
  }

  async #learnRun(answer: RunName | Promise<RunName>, ttl: number, sent: number): Promise<void> {
    await this.identity.learn(answer, this.#context.clock);
    const now = this.#context.clock.now();
    if (!needsHints(this.#context)) return;
    const { run } = this.identity;
    const checkRun = (): void => checkSame(run?.id ?? '', this.#view, sent);
    if (!this.#view) {
      await this.#readHints();
      if (this.#view && this.#excludedUntil(now) > now) await briefly(this.#readOthers(), this.#context);
    }
    if (ttl === 0) return;
    checkRun();
    if (this.#memory.remembers(ttl, now)) return;
    // A lease is stored only after its run is marked: a node with a lease and no mark would look as if it had lost its data.
    if (this.#state === 'excluded') {
      const rest = this.#excludedUntil(now) - now;
      if (rest > 0) throw exclusionError(rest, this.#mayBeNew, this.#context.clock);
      await this.#countNodesAgain(now).get(this);
      checkRun();
      if (this.#state === 'excluded')
        throw new Error('its vote does not count before one of a node that names its run');
    }
    await this.#memory.noteLease(ttl, now);
    checkRun();
    void this.#memory.mark(run, undefined).catch(() => {}); // the mark has to last as long as the hint of the lease
  }

  #restart(): void {
    const { run, restarted } = this.identity;
    this.#state = run?.age === undefined && !restarted ? 'counted' : 'unread';
    this.#view = undefined;
    this.#schedule = new ReadSchedule();
    this.#longestForgotten = Math.max(this.#longestForgotten, this.#memory.forget());
  }

  /**
   * Lets all nodes whose exclusion is over count together: if only one were marked, the others would no longer look new.
   * @returns a promise for each of these nodes, which resolves when the node is marked
   */
  #countNodesAgain(now: number): ReadonlyMap<RestartGuard, Promise<void>> {
    const { all, identities, majority } = this.#context;
    const free = all.filter((each) => each.#state === 'excluded' && each.#excludedUntil(now) <= now);
    const votes = all.filter((each) => each.identity.nameless || each.#state === 'counted' || free.includes(each));
    if (areTooFew(votes, majority)) return new Map();
    const born = areNew(this.#views()) ? identities.flatMap(({ run }) => run?.id ?? []) : undefined;
    return new Map(free.map((each) => [each, each.#count(born)]));
  }

  async #count(born: readonly string[] | undefined): Promise<void> {
    this.#state = 'counted';
    this.#view = { ...this.#view!, marked: this.#view!.run };
    // If the mark fails, the votes of the node count all the same. Then a later process waits as long as this one did.
    await this.#memory.mark(this.identity.run, born).catch(() => {});
  }

  #excludedUntil(now: number): number {
    return excludedUntil(this.#view!, this.#views(), now, this.#context);
  }

  get #mayBeNew(): boolean {
    return areNew(this.#views().filter((each) => each !== undefined)) && !this.identity.restarted;
  }

  /** Gives the latest view of each node; undefined for a node that was not read since this node's server began its run. */
  #views(): (NodeView | undefined)[] {
    const isOfNow = (each: RestartGuard): boolean => each === this || each.#readAt >= this.identity.since;
    return this.#context.all.map((each) => (isOfNow(each) ? each.#view : undefined));
  }

  /** Reads the hints of all nodes that were not read since `since`. */
  async #readOthers(since = this.identity.since): Promise<void> {
    await Promise.all(this.#context.all.map((each) => each.#readAt < since && each.#readHints().catch(() => {})));
  }

  async #readHints(): Promise<void> {
    const [{ identity }, now] = [this, this.#context.clock.now()];
    if (!identity.run && !identity.nameless) return; // the node is read after it has named its run
    const run = identity.run ?? { id: '' };
    const found = await this.#memory.readHints(run, this.#longestForgotten);
    if (run.id !== (identity.run?.id ?? '')) return;
    const marked = identity.run && this.#state !== 'counted' ? found.marked : run.id;
    this.#view = { run: run.id, since: identity.since, restarted: identity.restarted, ...found, marked };
    if (this.#state === 'unread') this.#state = 'excluded';
    this.#readAt = now;
  }
}

/** True if a node was found to be the same server as another one. */
export const isTwin = ({ identity }: RestartGuard): boolean => identity.twin !== undefined;

/**
 * Asks each twin again whether it is still the same server as another node: a client may have reached the wrong server for a moment.
 * @throws LockError `LOCK_INVALID` if two nodes are still the same server
 */
export async function separateTwins(all: readonly RestartGuard[]): Promise<void> {
  const separate = async (guard: RestartGuard): Promise<void> => {
    const twin = all.find(({ identity }) => identity === guard.identity.twin);
    await twin?.ask().catch(() => {}); // the twin may be the node that reached the wrong server
    await guard.ask();
  };
  await Promise.all(all.filter(isTwin).map(separate));
}

/** Hints guard against nodes that restart. If no node can show a restart, no process needs the hints. */
const needsHints = ({ guarded, identities }: GuardContext): boolean =>
  guarded && identities.some(({ nameless }) => !nameless);

/**
 * True if only nodes that name no run would vote, and these are no majority. Then no claim could win, but a lease in their hints would still
 * make the other nodes wait.
 */
function areTooFew(votes: readonly RestartGuard[], majority: number): boolean {
  return votes.length < majority && votes.every(({ identity }) => identity.nameless);
}

/**
 * Another claim may notice a restart while this one waits. What this one learned, or an earlier run granted, is not true of the next run.
 * @param asked the run that this claim asked @param read the run whose hints are known
 * @throws Error if they differ, or the run may have begun after `sent`
 */
function checkSame(asked: string, read: NodeView | undefined, sent: number): void {
  if (read?.run !== asked || read.since > sent) throw new Error('restarted while it was asked');
}

/** A node that hangs must not delay the others. Until it answers, it is taken for a node that remembers nothing. */
const briefly = (others: Promise<void>, { clock }: GuardContext): Promise<void> =>
  Promise.race([others, new Promise<void>((done) => clock.after(OTHERS_TIMEOUT_MS, done, true))]);

/** Decides when a node that does not count is read again. */
class ReadSchedule {
  #at = 0;
  #pause = MIN_PAUSE_MS;

  /** True if the next read is due: once per pause. */
  take(now: number): boolean {
    if (now < this.#at) return false;
    this.#at = now + this.#pause;
    this.#pause = Math.min(MAX_PAUSE_MS, this.#pause * 2);
    return true;
  }
}

function exclusionError(rest: number, mayBeNew: boolean, clock: Clock): Error {
  const why = mayBeNew
    ? 'is new, or has lost its data: which one is known when every node has answered once. Until then it does not count,'
    : 'restarted: what it granted before may be forgotten, so it does not count';
  const end = new Date((clock.epoch?.() ?? systemClock.epoch()) + rest);
  return new Error(`${why} for another ${Math.ceil(rest)} ms, until ${end.toISOString()}`);
}
