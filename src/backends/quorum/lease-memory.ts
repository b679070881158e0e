import { type Clock, type Hints, mostOf, type Run } from '../../core/index.ts';
import { isForbidden, type ServerIdentity } from './server-identity.ts';

/** What a node showed when it was last read. Times are ms by the clock of this process. */
export interface NodeView {
  /** The run of the server; '' if the node names no run, and then the node always counts. */
  readonly run: string;
  /** The latest time at which this run may have begun. */
  readonly since: number;
  /** True if the node can keep hints. A hint that it does not have was never written, or the node lost its data. */
  readonly remembers: boolean;
  /** The last run of this node whose votes are known to have counted. */
  readonly marked: string | undefined;
  /** The runs of all nodes when the quorum was first used. The votes of these runs count. */
  readonly born: readonly string[];
  /** True if the marked run lost no acknowledged write, this run began with the data of the marked run, and this process knew no run between the two. */
  readonly kept: boolean;
  /** The longest lease that the node remembers, ms; 0 if it remembers none. */
  readonly longest: number;
  /** True if this process has seen an earlier run of this node. */
  readonly restarted: boolean;
}

export interface QuorumBounds {
  readonly majority: number;
  /** The longest lease there may be, ms. */
  readonly maxTtl: number;
  readonly drift: number;
}

/**
 * Gives the time until which a node does not count. A restarted node may have forgotten its votes, so it waits for the longest lease that
 * it may have voted for. The other nodes remember that lease: before a process asks for votes, all nodes that it asks store the lease in a hint. So
 * at least one node of every majority knows the lease. If too few nodes remember, the lease may have been `maxTtl`: a node with old data may
 * lack the hint. If all nodes were asked and none remembers a lease, the nodes are new, and no vote was ever given.
 */
export function excludedUntil(
  node: NodeView,
  all: readonly (NodeView | undefined)[],
  now: number,
  { majority, maxTtl, drift }: QuorumBounds,
): number {
  if (node.marked === node.run || node.kept) return Number.NEGATIVE_INFINITY;
  if (all.some((each) => each?.born.includes(node.run))) return Number.NEGATIVE_INFINITY;
  const rest = (lease: number): number => lease * (1 + drift) + 2;
  const known = all.filter((each) => each !== undefined);
  if (areNew(all) && !node.restarted) return Number.NEGATIVE_INFINITY;
  // A node that names no run always counts, so its hints count as well.
  const witnesses = known.filter(
    ({ run, remembers, marked, kept, since }) =>
      remembers && (run === '' || marked === run || kept || since + rest(maxTtl) <= now),
  );
  const enough = witnesses.length >= all.length - majority + 1;
  return node.since + rest(enough ? mostOf(known.map(({ longest }) => longest)) : maxTtl);
}

/** True if all nodes were asked and none remembers a lease: no vote was ever given. */
export function areNew(all: readonly (NodeView | undefined)[]): boolean {
  return all.every((each) => each && each.longest === 0 && (each.run === '' || each.marked === undefined));
}

/** How long a hint is kept after its lease is over, and how often a hint in use is written again, ms. */
const HINT_TTL_MS = 86_400_000;
const REWRITE_MS = HINT_TTL_MS / 4;
/** How long after a full server refused to write a hint again the next try is due, ms. */
const RETRY_MS = 60_000;
const RUN = '\u0001quorum/run';
const BORN = '\u0001quorum/born';
const DURABLE = ' durable ';
/** A text that a durable run had on its disk before the mark with this text was sent. A mark that is sent again may reach a run that lost its data. */
const PROOF = '\u0001quorum/proof';

/** A lease is rounded up to 1, 2, 3, 5, 10, 20 … s. Each length has its own hint, so no short lease overwrites a longer one. */
export function leaseClasses(maxTtl: number): number[] {
  const found: number[] = [];
  for (let decade = 1_000; decade < maxTtl; decade *= 10)
    for (const step of [1, 2, 3, 5]) if (step * decade < maxTtl) found.push(step * decade);
  return [...found, maxTtl];
}

/** The part of a node view that comes from its hints. The rest is known to `RestartGuard`. */
type NodeHints = Pick<NodeView, 'remembers' | 'marked' | 'born' | 'kept' | 'longest'>;

/** The hints in which a node remembers facts about the quorum, beside its locks. */
export class LeaseMemory {
  readonly #maxTtl: number;
  readonly #identity: ServerIdentity;
  readonly #clock: Clock;
  /** The longest lease that this process has stored at this run lately, ms, and the time until which it need not store the lease again. */
  #longestNoted = 0;
  #until = Number.NEGATIVE_INFINITY;
  #writtenAt = Number.NEGATIVE_INFINITY;
  #runs = 0;

  constructor(identity: ServerIdentity, maxTtl: number, clock: Clock) {
    this.#maxTtl = maxTtl;
    this.#identity = identity;
    this.#clock = clock;
  }

  get #hints(): Hints | undefined {
    return this.#identity.backend.hints;
  }

  /** True if the node is known to remember a lease of `ttl`, or keeps no hints. */
  remembers(ttl: number, now: number): boolean {
    return !this.#hints || (ttl <= this.#longestNoted && now < this.#until);
  }

  /** Resolves when the node remembers the lease. Without the right to write, nothing is stored, and no process relies on the hint. */
  async noteLease(ttl: number, now: number): Promise<void> {
    if (this.remembers(ttl, now)) return;
    const runs = this.#runs;
    const lease = leaseClasses(this.#maxTtl).find((each) => each >= ttl) ?? this.#maxTtl;
    try {
      await this.#write(leaseHint(lease), '1');
    } catch (error) {
      // A full server keeps what it has: the hint from before lasts for more than a quarter of a day after it is due again.
      if (lease > this.#longestNoted || now >= this.#writtenAt + 2 * REWRITE_MS) throw error;
      this.#until = now + RETRY_MS;
      return;
    }
    if (runs !== this.#runs) return; // an earlier run may have stored it
    // The hint of a longer lease is old by now: it has to be stored again before the next such lease.
    if (now >= this.#until) [this.#writtenAt, this.#until, this.#longestNoted] = [now, now + REWRITE_MS, 0];
    this.#longestNoted = Math.max(this.#longestNoted, lease);
  }

  /** Forgets what this process has stored, since a new run may have lost it. Returns the longest lease stored lately, ms. */
  forget(): number {
    const noted = this.#longestNoted;
    this.#runs++;
    this.#longestNoted = 0;
    this.#until = Number.NEGATIVE_INFINITY;
    return noted;
  }

  /** @param forgotten the longest lease that an earlier run was asked to remember, ms: if the node lost it, the node has to remember it again */
  async readHints(run: Run, forgotten = 0): Promise<NodeHints> {
    const now = this.#clock.now();
    let found = await this.#read(run);
    // A lease is stored after the mark of its run. If only the lease was read, another process wrote both during the read.
    if (found.longest > 0 && found.marked === undefined) found = await this.#read(run);
    // The server may have begun another run, and that run may have given the hints. If the server does not name its run now, they do not count.
    await this.#identity.learn(this.#identity.ask(), this.#clock);
    if (!found.remembers || found.longest > 0 || forgotten === 0) return found;
    // The node lost its data. If all other nodes have no data either, a later process would take the node for new.
    await this.noteLease(forgotten, now);
    return { ...found, longest: forgotten };
  }

  async #read(run: Run): Promise<NodeHints> {
    const read = (name: string): Promise<string | undefined> => this.#hints!.read(name);
    const leases = leaseClasses(this.#maxTtl);
    const found =
      this.#hints && (await ifAllowed(() => Promise.all([RUN, BORN, PROOF, ...leases.map(leaseHint)].map(read))));
    if (!found) return { remembers: false, marked: undefined, born: [], kept: false, longest: 0 };
    const [mark, born, proof, ...noted] = found;
    const longest = leases.findLast((_, i) => noted[i] !== undefined) ?? 0;
    const marked = mark?.split(DURABLE)[0];
    const { before = { id: marked } } = this.#identity;
    // A volume may come back that was not there in the last run: the votes of that run are not on it.
    const kept = proof !== undefined && mark?.endsWith(proof) === true && run.durable === true && before.id === marked;
    return { remembers: true, marked, born: born?.split('\n') ?? [], kept, longest };
  }

  /**
   * Stores at the node that the votes of this run count, because all votes of earlier runs, which it may have forgotten, have expired.
   * @param run undefined if the node names no run: its votes always count
   * @param born the runs of all nodes, if the nodes are new: then one marked node is enough if this process ends before it marks the rest
   */
  async mark(run: Run | undefined, born: readonly string[] | undefined): Promise<void> {
    if (born) await this.#write(BORN, born.join('\n'));
    if (!run) return;
    const proof = run.durable ? DURABLE + this.#clock.id() : '';
    if (proof) {
      await this.#write(PROOF, proof);
      await this.#identity.learn(this.#identity.ask(), this.#clock);
      if (this.#identity.run?.id !== run.id) return;
    }
    await this.#write(RUN, run.id + proof);
  }

  #write(name: string, text: string): Promise<void> {
    return ifAllowed(() => this.#hints?.write(name, text, HINT_TTL_MS + this.#maxTtl));
  }
}

const leaseHint = (lease: number): string => `\u0001quorum/lease/${lease}`;

/** Resolves to undefined if the user has no right to make the call. */
async function ifAllowed<T>(ask: () => Promise<T> | undefined): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (!isForbidden(error)) throw error;
    return undefined;
  }
}
