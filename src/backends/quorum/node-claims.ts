import { type Claim, isExclusive } from '../../core/index.ts';
import { nodeTimeoutOf, type QuorumContext } from './node.ts';
import { type ClaimOfAll, NodeClaim, type OnRelease } from './node-claim.ts';
import { lostOf, mayKeep, type NodeAnswer, notAsked, OPEN, REFUSED, UNASKED } from './tally.ts';

/** How many nodes are asked first, if they will probably refuse. */
const FIRST_ASKED = 2;

export interface VoteReceiver {
  /** True if the ballot needs no more votes. */
  readonly isOver: boolean;
  receiveVote(): void;
}

/** One claim at all nodes: the id under which each node was last asked, and the answer of each node. */
export class NodeClaims implements ClaimOfAll {
  /** A public name of the claim, which no other claim has. */
  readonly tag: string;
  readonly within: number;
  /** If true, tokens are fencing tokens, and a majority has to agree on one. */
  readonly fenced: boolean;
  /** The claim, with the lease of its latest renewal. */
  claim: Claim;
  /** The time at which the claim has expired on every node, even if it is never released. */
  expiresAt = Number.POSITIVE_INFINITY;
  /** Called at each vote, before it is counted. */
  onVote: ((node: number) => void) | undefined;
  readonly #context: QuorumContext;
  readonly #voting: VoteReceiver;
  readonly #claims: NodeClaim[] = [];
  readonly #answers: NodeAnswer[];
  /** The nodes that were asked first, and the nodes that were not asked yet. */
  #first: number[] = [];
  #rest: number[] = [];

  constructor(context: QuorumContext, claim: Claim, voting: VoteReceiver) {
    this.#context = context;
    this.#voting = voting;
    this.claim = claim;
    this.tag = context.clock.id().slice(0, 15);
    this.within = nodeTimeoutOf(claim);
    this.fenced = context.fenced && isExclusive(claim);
    this.#answers = context.nodes.map(() => UNASKED);
  }

  get answers(): readonly NodeAnswer[] {
    return this.#answers;
  }

  at(i: number): NodeClaim {
    return this.#claims[i]!;
  }

  /**
   * Asks every node that can answer for a vote.
   * @param few if true, asks only a few nodes, chosen at random; `askRest` asks the others
   */
  askFirst(few: boolean, minToken: bigint | undefined): void {
    const { nodes, clock } = this.#context;
    const from = few ? Math.floor(clock.random() * nodes.length) : 0;
    const sent = clock.now();
    for (const k of nodes.keys()) {
      const i = (from + k) % nodes.length;
      if (few && this.#first.length === FIRST_ASKED) this.#rest.push(i);
      else if (this.#askNode(i, minToken, sent)) this.#first.push(i);
    }
  }

  /** Asks the other nodes for a vote. They are not asked for the token of the first vote: the clock of that node may be far ahead. */
  askRest(minToken: bigint | undefined): void {
    const [rest, sent] = [this.#rest, this.#context.clock.now()];
    this.#rest = [];
    for (const i of rest) this.#askNode(i, minToken, sent);
  }

  /** What the few nodes asked first say so far; undefined if all were asked. `other`: one of the few granted, failed or was late, so all must be asked. */
  get few(): 'open' | 'refused' | 'other' | undefined {
    if (this.#rest.length === 0) return undefined;
    const answers = this.#first.map((i) => this.#answers[i]!);
    if (answers.some((answer) => answer !== OPEN && answer !== REFUSED)) return 'other';
    return answers.includes(OPEN) ? 'open' : 'refused';
  }

  /** Returns false if the node cannot answer, and so is not asked. */
  #askNode(i: number, minToken: bigint | undefined, sent: number): boolean {
    const why = this.#context.nodes[i]!.absence(this.claim.ttl);
    if (why) this.#answers[i] = notAsked(why);
    else this.ask(i, minToken, sent);
    return why === undefined;
  }

  /** Asks a node for a vote under a new id, unless a request to it is under way. */
  ask(i: number, minToken: bigint | undefined, sent = this.#context.clock.now()): void {
    if (this.#answers[i] === OPEN) return;
    this.#store(i, OPEN);
    this.#newClaim(i, minToken).ask(sent);
  }

  /** Asks each node that gave a token below `to` for a token that is at least `to`. */
  raise(to: bigint): void {
    for (const [i, answer] of this.#answers.entries()) {
      if (answer.kind !== 'yes' || answer.token >= to) continue;
      this.#store(i, OPEN);
      this.#claims[i]!.raise(to, this.#context.clock.now());
    }
  }

  release(onRelease?: OnRelease): void {
    for (const [i, answer] of this.#answers.entries()) {
      lostOf(answer)?.removeEventListener('abort', this);
      if (mayKeep(answer)) this.#claims[i]!.release(onRelease);
    }
  }

  setLease(claim: Claim, expires: number): void {
    this.claim = claim;
    this.expiresAt = expires;
  }

  isOver(claim: NodeClaim): boolean {
    return this.#voting.isOver || this.#claims[claim.node] !== claim;
  }

  receive(claim: NodeClaim, answer: NodeAnswer): void {
    const tooLow = answer.kind === 'yes' && claim.minToken !== undefined && answer.token < claim.minToken;
    if (tooLow && this.fenced && !this.#voting.isOver) this.#replaceVote(claim);
    else this.#accept(claim.node, answer);
  }

  /** Handles a signal of `lostOf`: a node lost its vote. */
  handleEvent(): void {
    for (const [i, answer] of this.#answers.entries()) if (lostOf(answer)?.aborted) this.#accept(i, REFUSED);
  }

  #newClaim(i: number, minToken: bigint | undefined): NodeClaim {
    const { nodes, clock } = this.#context;
    const claim = new NodeClaim(this, nodes[i]!, i, clock.id(), minToken);
    this.#claims[i] = claim;
    return claim;
  }

  /** Releases a vote, and then asks the node for a new one, since some engines cannot raise a token. */
  #replaceVote(low: NodeClaim): void {
    const claim = this.#newClaim(low.node, low.minToken);
    low.release(() => {
      if (!this.#voting.isOver) claim.ask(this.#context.clock.now());
    });
  }

  #accept(i: number, answer: NodeAnswer): void {
    this.#store(i, answer);
    if (answer.kind === 'yes' && this.#voting.isOver) this.#claims[i]!.releaseLateVote();
    else if (answer.kind === 'yes') this.onVote?.(i);
    this.#voting.receiveVote();
  }

  /** Stores an answer, and listens for the loss of its vote. The signal of a session outlives a vote, so the listener of the old vote is removed. */
  #store(i: number, answer: NodeAnswer): void {
    lostOf(this.#answers[i]!)?.removeEventListener('abort', this);
    this.#answers[i] = answer;
    if (!this.#voting.isOver) lostOf(answer)?.addEventListener('abort', this);
  }
}
