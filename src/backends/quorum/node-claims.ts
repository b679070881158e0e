import { isExclusive } from '../../core/contract/admission.ts';
import type { Claim } from '../../core/contract/backend.ts';
import { nodeTimeoutOf, type QuorumContext } from './context.ts';
import { lostOf, mayKeep, type NodeAnswer, OPEN, REFUSED, UNASKED } from './node-answer.ts';
import { type ClaimOfAll, NodeClaim, type Told } from './node-claim.ts';

/** The ballot that the answers are for. */
export interface Voting {
  /** No vote is wanted any more. */
  readonly isOver: boolean;
  voted(said: NodeAnswer): void;
}

/** One claim at all its nodes: under which id each was asked for it last, and what it has said. */
export class NodeClaims implements ClaimOfAll {
  /** What tells the claim from all others where everyone may see it. */
  readonly tag: string;
  readonly within: number;
  /** Whether numbers are tokens, which a majority has to agree on. */
  readonly fenced: boolean;
  /** With the lease that it is renewed to by now. */
  claim: Claim;
  /** By when no node has any of it, should it never be released. */
  lapses = Number.POSITIVE_INFINITY;
  readonly #context: QuorumContext;
  readonly #voting: Voting;
  readonly #claims: NodeClaim[] = [];
  readonly #said: NodeAnswer[];

  constructor(context: QuorumContext, claim: Claim, voting: Voting) {
    this.#context = context;
    this.#voting = voting;
    this.claim = claim;
    this.tag = context.clock.id().slice(0, 15);
    this.within = nodeTimeoutOf(claim);
    this.fenced = context.fenced && isExclusive(claim);
    this.#said = context.nodes.map(() => UNASKED);
  }

  get said(): readonly NodeAnswer[] {
    return this.#said;
  }

  at(i: number): NodeClaim {
    return this.#claims[i]!;
  }

  /** Asks all nodes that are of use. */
  askAll(atLeast: bigint | undefined): void {
    const { nodes, clock } = this.#context;
    const sent = clock.now();
    for (const [i, { absence }] of nodes.entries()) {
      if (absence) this.#said[i] = { kind: 'no', why: absence, asked: false };
      else this.ask(i, atLeast, sent);
    }
  }

  /** Asks a node under a new id, unless it is being asked. */
  ask(i: number, atLeast: bigint | undefined, sent = this.#context.clock.now()): void {
    if (this.#said[i] === OPEN) return;
    this.#say(i, OPEN);
    this.#under(i, atLeast).ask(sent);
  }

  /** Asks those who gave a lower number for one that is not. */
  raise(to: bigint): void {
    for (const [i, said] of this.#said.entries()) {
      if (said.kind !== 'yes' || said.ticket >= to) continue;
      this.#say(i, OPEN);
      this.#claims[i]!.raise(to, this.#context.clock.now());
    }
  }

  release(told?: Told): void {
    for (const [i, said] of this.#said.entries()) {
      lostOf(said)?.removeEventListener('abort', this);
      if (mayKeep(said)) this.#claims[i]!.release(told);
    }
  }

  /** It is renewed to the lease of this claim. */
  lasts(claim: Claim, lapses: number): void {
    this.claim = claim;
    this.lapses = lapses;
  }

  isOver(claim: NodeClaim): boolean {
    return this.#voting.isOver || this.#claims[claim.node] !== claim;
  }

  heard(claim: NodeClaim, said: NodeAnswer): void {
    const tooLow = said.kind === 'yes' && claim.atLeast !== undefined && said.ticket < claim.atLeast;
    if (tooLow && this.fenced && !this.#voting.isOver) this.#askAnew(claim);
    else this.#hear(claim.node, said);
  }

  /** Of a node that has lost its vote. */
  handleEvent(): void {
    for (const [i, said] of this.#said.entries()) if (lostOf(said)?.aborted) this.#hear(i, REFUSED);
  }

  #under(i: number, atLeast: bigint | undefined): NodeClaim {
    const { nodes, clock } = this.#context;
    const claim = new NodeClaim(this, nodes[i]!, i, clock.id(), atLeast);
    this.#claims[i] = claim;
    return claim;
  }

  /** An engine that cannot raise a ticket: the vote is released and asked for once more, as a new one. */
  #askAnew(low: NodeClaim): void {
    const claim = this.#under(low.node, low.atLeast);
    low.release(() => {
      if (!this.#voting.isOver) claim.ask(this.#context.clock.now());
    });
  }

  #hear(i: number, said: NodeAnswer): void {
    this.#say(i, said);
    if (said.kind === 'yes' && this.#voting.isOver) this.#claims[i]!.votedTooLate();
    this.#voting.voted(said);
  }

  /** Listens to the votes that there are, and to no others: many may be lost with one session, which lasts. */
  #say(i: number, said: NodeAnswer): void {
    lostOf(this.#said[i]!)?.removeEventListener('abort', this);
    this.#said[i] = said;
    if (!this.#voting.isOver) lostOf(said)?.addEventListener('abort', this);
  }
}
