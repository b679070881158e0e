import {
  type Attempt,
  type Backend,
  type CallTimeouts,
  type Claim,
  type Clock,
  type Finding,
  type Hints,
  invalid,
  isLockError,
  type Listing,
  type LockError,
  listOf,
  mostOf,
  type QueueEntry,
  type Renewal,
  removeUser,
  renewalOf,
  StepLimit,
} from '../../core/index.ts';
import { Link, NodeReleases, type Receiver } from './link.ts';
import { type GuardContext, isTwin, RestartGuard, separateTwins } from './restart-guard.ts';

const UNGUARDED: Finding = {
  severity: 'info',
  code: 'restart-unseen',
  message: 'it does not show whether it restarted, so its votes count at once after a restart',
  advice: 'let it keep its data over a restart, or keep it away for the longest lease after one',
};

export interface NodeContext extends GuardContext {
  readonly timeouts: CallTimeouts;
  /**
   * Set when a node turns out to be unfit for a quorum, such as an engine that chooses all tokens itself: then every request for a lease of `ttl` or
   * longer fails with this error. A node that keeps nothing for so long may be fit for shorter leases.
   */
  misuse?: { readonly error: LockError; readonly ttl: number };
}

/** The facts about the quorum that a ballot needs. */
export interface QuorumContext {
  readonly nodes: readonly Node[];
  readonly majority: number;
  readonly clock: Clock;
  /** If true, tokens are fencing tokens: every engine among the nodes has them. */
  readonly fenced: boolean;
  /** The share of a lease that is still safe to use after clock drift: 0 to 1. */
  readonly worth: number;
  /** The highest token that a majority has given to this process. */
  highest: bigint;
}

/**
 * Gives how long one node may take to answer, ms. A claim waits for a slow node only while the other nodes leave the outcome open.
 */
export const nodeTimeoutOf = ({ ttl, within }: Pick<Claim, 'ttl' | 'within'>): number =>
  Math.min(500, Math.max(250, ttl / 4), within * 0.8);

/** Prepares all nodes for a claim. Resolves when each of them has answered, or its time is over; undefined if all are ready. */
export function prepare(nodes: readonly Node[], claim: Pick<Claim, 'ttl' | 'within'>): Promise<unknown> | undefined {
  const preparing = nodes.flatMap((node) => node.prepare(claim.ttl, nodeTimeoutOf(claim)) ?? []);
  return preparing.length > 0 ? Promise.all(preparing) : undefined;
}

/** One engine of a quorum. The quorum skips it while it is silent, or while its votes do not count. */
export class Node {
  readonly title: string;
  readonly backend: Backend;
  readonly guard: RestartGuard;
  readonly releases: NodeReleases;
  readonly #context: NodeContext;
  readonly #link: Link;
  /** Why the node did not note a lease the last time. */
  #obstacle: unknown;

  constructor(backend: Backend, number: number, context: NodeContext) {
    this.backend = backend;
    this.title = `node ${number} (${backend.name})`;
    this.#context = context;
    this.guard = new RestartGuard(backend, this.title, context);
    this.#link = new Link(context.clock, context.timeouts);
    this.releases = new NodeReleases(backend, this.#link);
  }

  /** Returns the reason to skip the node now; undefined if the caller should ask it. If the node is silent, the caller's request is the probe. */
  skipOrProbe(): Error | undefined {
    this.guard.review();
    const { doubt } = this.guard;
    if (!doubt) return this.#link.skipOrProbe();
    return this.#context.all.some(isTwin) ? undefined : doubt; // with a twin, the request must go on: it asks the twins again, or fails
  }

  /**
   * Makes the node note a lease of `ttl`, before any node is asked for a vote: if one of them restarts after its vote, the others remember the lease
   * by then. A node that does not note it is not asked. Never rejects.
   */
  prepare(ttl: number, within: number): Promise<void> | undefined {
    if (this.guard.isReady(ttl) || this.skipOrProbe()) return undefined;
    const note = async (): Promise<void> => this.guard.confirmRun(ttl, this.#context.clock.now());
    return this.#link.answer(note, within).catch((why) => {
      this.#obstacle = why;
      this.noteFailure(why, ttl);
    });
  }

  /** Gives the reason not to ask the node for a vote on a lease of `ttl`. */
  absence(ttl: number): unknown {
    return this.skipOrProbe() ?? (this.guard.isReady(ttl) ? undefined : (this.#obstacle ?? 'has not noted the lease'));
  }

  /** Finds out which server the node is, and since when it runs. */
  async introduce(within: number): Promise<void> {
    await this.#link.answer(() => this.guard.ask(), within);
  }

  attempt(claim: Claim, sent: number, vote: Receiver<Attempt>): void {
    const attempt = (): Promise<Attempt> => this.backend.attempt(claim);
    this.#link.ask(() => this.#separateTwins(claim.ttl)?.then(attempt) ?? attempt(), claim.within, sent, vote);
  }

  /**
   * Keeps a failure which says that the node is unfit for a quorum. The vote of such a node would never count, and users would notice
   * that only after the loss of another node.
   */
  noteFailure(why: unknown, ttl: number): void {
    const { misuse } = this.#context;
    if (isLockError(why, 'LOCK_UNSUPPORTED') && !(misuse && misuse.ttl <= ttl))
      this.#context.misuse = { error: invalid(`${this.title} cannot be one of a quorum: ${why.message}`), ttl };
  }

  /** Limits the wait for what the node has to say after its grant: it may hang by then. */
  limited<T>(answer: Promise<T>, within: number): Promise<T> {
    return this.#link.answer(() => answer, within);
  }

  renew(claims: readonly Claim[], within: number): Promise<Renewal[]> {
    const longest = mostOf(claims.map(({ ttl }) => ttl));
    const renew = async (): Promise<Renewal[]> => {
      const renewed = await this.backend.renew(claims);
      await this.guard.remember(longest);
      return claims.map((_, i) => renewalOf(renewed?.[i]));
    };
    return this.#link.answer(() => this.guard.remember(longest)?.then(renew) ?? renew(), within);
  }

  /** Reads or writes hints, if the node keeps hints and answers. */
  async hints<T>(ask: (hints: Hints) => Promise<T>, within: number): Promise<T | undefined> {
    const { hints } = this.backend;
    return hints && !this.skipOrProbe() ? this.#link.answer(() => ask(hints), within) : undefined;
  }

  /** @param within how long each request of the listing may take, ms */
  async list(prefix: string, how: Listing, within: number): Promise<QueueEntry[]> {
    const work = new StepLimit();
    const progress = (looked: number): void => {
      work.stepDone();
      how.progress?.(looked);
    };
    const all = listOf(this.backend.inspect!(prefix, { ...how, progress }));
    return work.apply(all, (step) => this.#link.answer(step, within));
  }

  evict(key: string, token: bigint, within: number): Promise<boolean> {
    return this.#link.answer(() => this.backend.evict!(key, token), within);
  }

  /** Gives the findings of the engine, and one more if a restart of its server would not be noticed. */
  async check(within: number): Promise<Finding[]> {
    const found = await this.#link.answer(async () => this.backend.check?.() ?? [], within);
    return this.#context.guarded && this.guard.identity.nameless ? [...found, UNGUARDED] : found;
  }

  async close(): Promise<void> {
    this.releases.close();
    await removeUser(this.backend);
  }

  /** Checks, before a request to the nodes, that no two of them are one server. If a node is unfit, every request fails. */
  #separateTwins(ttl: number): Promise<unknown> | undefined {
    const { misuse, all } = this.#context;
    if (misuse && ttl >= misuse.ttl) return Promise.reject(misuse.error);
    return all.some(isTwin) ? separateTwins(all) : undefined;
  }
}
