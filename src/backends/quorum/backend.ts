import {
  type Attempt,
  addUser,
  type Backend,
  CallTimeouts,
  type Claim,
  type Finding,
  type Handle,
  leastOf,
  mostOf,
  type Release,
  type Renewal,
  type Traits,
} from '../../core/index.ts';
import { Ballot, renew } from './ballot.ts';
import { ContentionBackoff } from './contention-backoff.ts';
import { evict, findings, inspect, watchHold } from './inspect.ts';
import { Node, prepare, type QuorumContext } from './node.ts';
import { checkNodes, type QuorumOptions, type ResolvedQuorumOptions, resolveQuorumOptions } from './options.ts';
import { majorityOf } from './tally.ts';
import { TurnHint } from './turn-hint.ts';
import { TurnTaking } from './turn-taking.ts';

/** The share that core already takes off every lease; see `deadlineOf`. */
const CORE_DRIFT_PART = 0.01;
/** How long the first attempt waits for the nodes to name the runs of their servers, ms. A slower node names its run with its first grant. */
const INTRODUCTION_TIMEOUT_MS = 250;
/** How often this process forgets the holds that have expired, ms. */
const SWEEP_EVERY_MS = 60_000;

/**
 * A lock is held when more than half of these engines admit it. So it survives the loss of the other engines. The engines must be
 * independent of each other, and may be of different kinds. The algorithm is Redlock
 * (https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/), with fencing tokens that grow. `close` closes the engines.
 * @throws LockError `LOCK_INVALID` for fewer than two backends, a value that is no backend, the same backend twice, or a bad option
 * @example
 * const [a, b, c] = ['10.0.0.1:2379', '10.0.0.2:2379', '10.0.0.3:2379'].map((host) => etcd({ endpoints: [host] }));
 * const locks = createLocks(quorum([a!, b!, c!]));
 */
export function quorum(backends: readonly Backend[], options: QuorumOptions = {}): Backend {
  const resolved = resolveQuorumOptions(options);
  checkNodes(backends);
  return new Quorum(backends, resolved);
}

/** Presents N engines as one. Only this process knows the id of a hold at each node, so no other process can renew or release the hold. */
class Quorum implements Backend {
  readonly name = 'quorum';
  readonly traits: Traits;
  readonly inspect?: Backend['inspect'];
  readonly evict?: Backend['evict'];
  readonly watchHold?: Backend['watchHold'];
  readonly #context: QuorumContext;
  readonly #timeouts: CallTimeouts;
  readonly #backoff: ContentionBackoff;
  readonly #turns: TurnTaking;
  readonly #ballots = new Map<string, Ballot>();
  #closing: Promise<void> | undefined;
  #introduced = false;
  #sweptAt = Number.NEGATIVE_INFINITY;

  constructor(backends: readonly Backend[], { drift, guarded, maxTtl, clock }: ResolvedQuorumOptions) {
    const majority = majorityOf(backends.length);
    this.traits = traitsOf(backends, maxTtl);
    this.#timeouts = new CallTimeouts(clock);
    this.#backoff = new ContentionBackoff(clock);
    const bounds = { majority, maxTtl, drift };
    const context = { ...bounds, clock, timeouts: this.#timeouts, guarded, all: [], identities: [] };
    this.#context = {
      nodes: backends.map((backend, i) => new Node(backend, i + 1, context)),
      majority,
      clock,
      fenced: this.traits.fencing !== 'never',
      worth: Math.min(1, (1 - drift) / (1 - CORE_DRIFT_PART)),
      highest: 0n,
    };
    this.#turns = new TurnTaking(new TurnHint(this.#context.nodes, majority), clock);
    const listing = backends.every(({ inspect }) => inspect);
    if (listing) this.inspect = (prefix, how) => inspect(this.#context, prefix, how);
    if (listing && backends.every((backend) => backend.evict))
      this.evict = (key, token) => evict(this.#context, key, token);
    if (backends.some((backend) => backend.watchHold))
      this.watchHold = (claim, ...how) => watchHold(this.#context, this.#ballots.get(claim.id)!.claims, ...how);
    for (const backend of backends) addUser(backend);
  }

  async attempt(claim: Claim): Promise<Attempt> {
    const known = this.#ballots.get(claim.id);
    if (known) return this.#attemptAgain(known, claim);
    this.#sweep();
    const ballot = new Ballot(this.#context, claim);
    this.#ballots.set(claim.id, ballot);
    if (!this.#introduced) await this.#introduce();
    try {
      return await this.#ask(ballot, claim.key);
    } finally {
      if (!ballot.grant) this.#ballots.delete(claim.id);
    }
  }

  async #ask(ballot: Ballot, key: string): Promise<Attempt> {
    const pause = this.#backoff.pauseBefore(key);
    if (pause > 0) await new Promise<void>((resolve) => this.#context.clock.after(pause, resolve));
    await this.#turns.refresh(key);
    const preparing = prepare(this.#context.nodes, ballot.claims.claim);
    if (preparing) await preparing;
    const first = !this.#turns.yields(key);
    const sent = this.#context.clock.now();
    const answer = first ? await ballot.open(this.#turns.sparesNodes(key)) : ballot.pass();
    if (answer.granted) {
      this.#backoff.noteGrant(key, !ballot.unanimous);
      this.#turns.noteGrant(key);
      return answer;
    }
    this.#turns.noteRefusal(key, first ? this.#context.clock.now() - sent : undefined);
    this.#backoff.noteRefusal(key);
    const how = this.#turns.isNext(key) ? 'next' : first ? 'unknown' : 'behind';
    return { ...answer, retryAfter: this.#backoff.pauseAfter(key, how) };
  }

  /** Finds out, at the first use, whether two nodes are one server. */
  async #introduce(): Promise<void> {
    await Promise.allSettled(this.#context.nodes.map((node) => node.introduce(INTRODUCTION_TIMEOUT_MS)));
    this.#introduced = true;
  }

  /**
   * Forgets the holds that have expired. Some are never released: core lets a hold with `minHold` expire. The release frees what a session of a
   * node still carries.
   */
  #sweep(): void {
    const now = this.#context.clock.now();
    if (now < this.#sweptAt + SWEEP_EVERY_MS) return;
    this.#sweptAt = now;
    for (const [id, ballot] of this.#ballots) {
      if (ballot.claims.expiresAt > now) continue;
      this.#ballots.delete(id);
      void ballot.release();
    }
  }

  async #attemptAgain(ballot: Ballot, claim: Claim): Promise<Attempt> {
    const { grant } = ballot;
    if (!grant) return ballot.outcomeFor(this.#context.clock.now());
    const [renewal] = await this.renew([{ ...claim, ttl: Math.max(claim.ttl, ballot.claims.claim.ttl) }]);
    if (typeof renewal === 'object') return { ...grant, validFor: renewal.validFor };
    if (renewal !== 'gone') throw new Error('too few nodes answered to say whether the hold is still there');
    if (this.#ballots.get(claim.id) !== ballot) throw new Error('it was released in the meantime');
    this.#ballots.delete(claim.id);
    void ballot.release();
    return this.attempt(claim);
  }

  renew(claims: readonly Claim[]): Promise<Renewal[]> {
    const ttl = mostOf(claims.map((claim) => claim.ttl));
    const all = (): Promise<Renewal[]> => renew(claims, this.#ballots, this.#context);
    return prepare(this.#context.nodes, { ttl, within: Number.POSITIVE_INFINITY })?.then(all) ?? all();
  }

  /** Releases a hold, and attempts no next claim: no single step could do both at all nodes. Core attempts the next claim separately. */
  async release({ id, key }: Handle): Promise<Release> {
    const ballot = this.#ballots.get(id);
    if (!ballot?.grant) this.#turns.noteGivenUp(key);
    if (!ballot) return { freed: false };
    this.#ballots.delete(id);
    this.#turns.noteRelease(key);
    try {
      const freed = await ballot.release();
      if (freed === 'unknown') throw new Error('no node has said whether it was released');
      return { freed };
    } finally {
      this.#backoff.noteRelease(key);
    }
  }

  check(): Promise<Finding[]> {
    return findings(this.#context.nodes);
  }

  close(): Promise<void> {
    this.#closing ??= Promise.allSettled(this.#context.nodes.map((node) => node.close())).then(() =>
      this.#timeouts.close(),
    );
    return this.#closing;
  }
}

function traitsOf(backends: readonly Backend[], maxTtl: number): Traits {
  const traits = backends.map((backend) => backend.traits);
  const limits = traits.map(({ ttl }) => ttl.max);
  const max = leastOf(limits, maxTtl);
  return {
    // The majorities of a reader and a writer share a node, which refuses one of the two. For permits, one shared node is not enough: if each of
    // three nodes admits two permits, three callers can each have two nodes.
    units: traits.some(({ units }) => units === 'exclusive') ? 'exclusive' : 'shared',
    fair: false,
    fencing: traits.some(({ fencing }) => fencing === 'never') ? 'never' : 'durable',
    tokenBlocks: traits.every(({ tokenBlocks }) => tokenBlocks),
    wakes: 'never',
    expires: traits.every(({ expires }) => expires),
    observedExpiry: traits.some(({ observedExpiry }) => observedExpiry),
    hasStrangers: traits.some(({ hasStrangers }) => hasStrangers),
    lifetime: traits.some(({ lifetime }) => lifetime === 'session') ? 'session' : 'lease',
    ttl: {
      min: mostOf(traits.map(({ ttl }) => ttl.min)),
      max,
      advice: max === maxTtl ? 'for a longer one, give `maxTtl` to all processes of this quorum' : undefined,
    },
  };
}
