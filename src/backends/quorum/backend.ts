import type {
  Attempt,
  Backend,
  Claim,
  Finding,
  Handle,
  Listing,
  Release,
  Renewal,
  Standing,
  Traits,
} from '../../core/backend.ts';
import { CallTimeouts } from '../../core/call-timeouts.ts';
import { Ballot } from './ballot.ts';
import { findings } from './check.ts';
import { ContentionBackoff } from './contention-backoff.ts';
import { nodeTimeoutOf, type QuorumContext } from './context.ts';
import { type Poll, standings } from './inspect.ts';
import { Node } from './node.ts';
import { checkNodes, type QuorumOptions, type ResolvedQuorumOptions, resolveQuorumOptions } from './options.ts';
import { majorityOf, tallyRenewal } from './tally.ts';

/** What core takes off every lease already; see `deadlineOf`. */
const CORE_DRIFT = 0.01;
/** Longest time the first use waits for a node to name itself; one that is late does so with its first grant. ms. */
const INTRODUCTION = 250;
/** How often holds that lapsed by themselves are forgotten. ms. */
const SWEEP = 60_000;
/** Longest time a node may take over one request of a listing. Less than core waits for progress: one may hang. ms. */
const LISTING = 4_000;

/**
 * A lock is held when more than half of these engines say so: it outlives the loss of a minority of them. They have to be
 * independent of each other, and need not be alike. After Redlock (https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/),
 * with fencing tokens that grow. `close` closes them.
 * @throws LockError `LOCK_INVALID` for fewer than two, for what is no backend or is given twice, or for a bad option
 */
export function quorum(backends: readonly Backend[], options: QuorumOptions = {}): Backend {
  const resolved = resolveQuorumOptions(options);
  checkNodes(backends);
  return new Quorum(backends, resolved);
}

/** N engines as one. What it knows of a hold, which node has it under which id, is here: a hold ends with its process. */
class Quorum implements Backend {
  readonly name = 'quorum';
  readonly traits: Traits;
  readonly inspect: Backend['inspect'];
  readonly evict: Backend['evict'];
  readonly #context: QuorumContext;
  readonly #timeouts: CallTimeouts;
  readonly #backoff: ContentionBackoff;
  readonly #ballots = new Map<string, Ballot>();
  #introduced = false;
  #swept = Number.NEGATIVE_INFINITY;

  constructor(backends: readonly Backend[], { drift, guarded, maxTtl, clock }: ResolvedQuorumOptions) {
    const majority = majorityOf(backends.length);
    this.traits = traitsOf(backends, maxTtl);
    this.#timeouts = new CallTimeouts(clock);
    this.#backoff = new ContentionBackoff(clock);
    const identities = { clock, majority, maxTtl, drift, guarded, all: [] };
    const context = { clock, timeouts: this.#timeouts, identities };
    this.#context = {
      nodes: backends.map((backend, i) => new Node(backend, i + 1, context)),
      majority,
      clock,
      fenced: this.traits.fencing !== 'never',
      worth: Math.min(1, (1 - drift) / (1 - CORE_DRIFT)),
      highest: 0n,
    };
    const listing = backends.every(({ inspect }) => inspect);
    this.inspect = listing ? (prefix, how) => this.#inspect(prefix, how) : undefined;
    this.evict =
      listing && backends.every(({ evict }) => evict) ? (key, ticket) => this.#evict(key, ticket) : undefined;
  }

  async attempt(claim: Claim): Promise<Attempt> {
    const known = this.#ballots.get(claim.id);
    if (known) return this.#again(known, claim);
    this.#sweep();
    const ballot = new Ballot(this.#context, claim);
    this.#ballots.set(claim.id, ballot);
    if (!this.#introduced) await this.#introduce();
    const courtesy = this.#backoff.courtesy(claim.key);
    if (courtesy > 0) await new Promise<void>((resolve) => this.#context.clock.after(courtesy, resolve));
    try {
      const answer = await ballot.open();
      if (answer.granted) {
        this.#backoff.granted(claim.key, !ballot.unanimous);
        return answer;
      }
      return { ...answer, retryAfter: this.#backoff.refused(claim.key) };
    } finally {
      if (!ballot.grant) this.#ballots.delete(claim.id);
    }
  }

  /** The first use finds out whether two nodes are one server. */
  async #introduce(): Promise<void> {
    await Promise.allSettled(this.#context.nodes.map((node) => node.introduce(INTRODUCTION)));
    this.#introduced = true;
  }

  /** Not everything is given back: a hold that has to last (`minHold`) is left to lapse. */
  #sweep(): void {
    const now = this.#context.clock.now();
    if (now < this.#swept + SWEEP) return;
    this.#swept = now;
    for (const [id, { lapses }] of this.#ballots) if (lapses <= now) this.#ballots.delete(id);
  }

  async #again(ballot: Ballot, claim: Claim): Promise<Attempt> {
    const { grant } = ballot;
    if (!grant) return ballot.outcomeFor(this.#context.clock.now());
    const [renewal] = await this.renew([{ ...claim, ttl: Math.max(claim.ttl, ballot.claim.ttl) }]);
    if (typeof renewal === 'object') return { ...grant, validFor: renewal.validFor };
    if (renewal !== 'gone') throw new Error('too few nodes answered to say whether the hold is still there');
    if (this.#ballots.get(claim.id) !== ballot) throw new Error('it was given back meanwhile');
    this.#ballots.delete(claim.id);
    ballot.giveBack().catch(() => {});
    return this.attempt(claim);
  }

  /** Every node that may have some of a hold is asked; where a majority confirms it, the others are asked for their vote anew. */
  async renew(claims: readonly Claim[]): Promise<Renewal[]> {
    if (claims.length === 0) return [];
    const { nodes, majority, clock } = this.#context;
    const within = nodeTimeoutOf({ ttl: Math.min(...claims.map(({ ttl }) => ttl)), within: Number.POSITIVE_INFINITY });
    const ballots = claims.map((claim) => {
      const ballot = this.#ballots.get(claim.id);
      ballot?.lasts(claim, clock.now() + claim.ttl + 2 * within);
      return ballot;
    });
    const answers = claims.map((_, j) =>
      nodes.map((_, i): Renewal | 'open' => (ballots[j]?.grant && ballots[j].keeps(i) ? 'open' : 'gone')),
    );
    return new Promise((resolve) => {
      const renewals: (Renewal | undefined)[] = claims.map(() => undefined);
      let left = claims.length;
      const count = (j: number): void => {
        if (renewals[j] !== undefined) return;
        renewals[j] = this.#worth(tallyRenewal(answers[j]!, majority));
        if (renewals[j] !== undefined && --left === 0) resolve(renewals as Renewal[]);
      };
      const asking = nodes.map(async (node, i) => {
        const asked = [...claims.keys()].filter((j) => answers[j]![i] === 'open');
        if (asked.length === 0) return;
        const sent = asked.map((j) => ballots[j]!.at(i));
        const sure = asked.map((j, at) => ballots[j]!.unanswered.sent(sent[at]!.id, sent[at]!.ttl));
        const heard = await node.renew(sent, within).catch(() => []);
        for (const [at, j] of asked.entries()) {
          const answer = heard[at] ?? 'unknown';
          ballots[j]!.unanswered.settled(sent[at]!.id, sent[at]!.ttl, answer !== 'unknown');
          answers[j]![i] = typeof answer === 'object' ? { validFor: Math.min(answer.validFor, sure[at]!) } : answer;
          count(j);
        }
      });
      for (const j of claims.keys()) count(j);
      void Promise.all(asking).then(() => {
        for (const [j, ballot] of ballots.entries()) {
          if (typeof renewals[j] !== 'object') continue;
          for (const [i, answer] of answers[j]!.entries()) if (answer === 'gone') ballot!.mend(i);
        }
      });
    });
  }

  #worth(renewal: Renewal | undefined): Renewal | undefined {
    return typeof renewal === 'object' ? { validFor: renewal.validFor * this.#context.worth } : renewal;
  }

  /** `next` asks for itself: there is no step that all nodes take together. */
  async release({ id }: Handle): Promise<Release> {
    const ballot = this.#ballots.get(id);
    if (!ballot) return { freed: false };
    this.#ballots.delete(id);
    try {
      return { freed: await ballot.giveBack() };
    } finally {
      this.#backoff.released(ballot.claim.key);
    }
  }

  async *#inspect(prefix: string, { exact = false, progress }: Listing = {}): AsyncIterable<Standing> {
    let most = 0;
    const goesOn = (looked: number): void => {
      most = Math.max(most, looked);
      progress?.(most);
    };
    for (const { standing } of await this.#poll(prefix, { exact, progress: goesOn })) yield standing;
  }

  async #evict(key: string, ticket: bigint): Promise<boolean> {
    const poll = (await this.#poll(key, { exact: true })).find(
      ({ standing }) => standing.key === key && standing.ticket === ticket,
    );
    if (!poll) return false;
    const { nodes, majority } = this.#context;
    const evicted = await Promise.all(
      poll.tickets.map((at, i) => (at === undefined ? false : nodes[i]!.evict(key, at, LISTING).catch(() => false))),
    );
    return evicted.filter(Boolean).length >= majority || evicted.filter(Boolean).length === poll.votes;
  }

  async #poll(prefix: string, how: Listing): Promise<Poll[]> {
    const { nodes, majority, fenced } = this.#context;
    const lists = await Promise.all(nodes.map((node) => node.list(prefix, how, LISTING).catch(() => undefined)));
    const heard = lists.filter((list) => list !== undefined).length;
    if (heard < majority)
      throw new Error(`${heard} of ${nodes.length} nodes listed their locks, ${majority} are needed`);
    return standings(lists, majority, fenced);
  }

  check(): Promise<Finding[]> {
    return findings(this.#context.nodes, LISTING);
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#context.nodes.map((node) => node.close()));
    this.#timeouts.close();
  }
}

function traitsOf(backends: readonly Backend[], maxTtl: number): Traits {
  const traits = backends.map((backend) => backend.traits);
  return {
    // Majorities of a reader and of a writer meet in a node where they are in each other's way. Permits do not: of two permits
    // over three nodes, three callers can each have two nodes.
    seats: traits.some(({ seats }) => seats === 'exclusive') ? 'exclusive' : 'shared',
    fair: false,
    fencing: traits.some(({ fencing }) => fencing === 'never') ? 'never' : 'durable',
    spans: traits.every(({ spans }) => spans),
    wakes: 'never',
    lapses: traits.every(({ lapses }) => lapses),
    keptBy: traits.some(({ keptBy }) => keptBy === 'session') ? 'session' : 'lease',
    ttl: {
      min: Math.max(...traits.map(({ ttl }) => ttl.min)),
      max: Math.min(maxTtl, ...traits.map(({ ttl }) => ttl.max)),
    },
  };
}
