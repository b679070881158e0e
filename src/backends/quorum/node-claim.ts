import type { Attempt, Claim, Grant } from '../../core/contract/backend.ts';
import type { Hearing } from './link.ts';
import type { Node } from './node.ts';
import { LATE, type NodeAnswer, noOf, REFUSED } from './node-answer.ts';
import { Unanswered } from './unanswered.ts';

/**
 * `standing`: nothing takes it back. `leaving`: a release is on its way. `doubtful`: so it is, and a vote came meanwhile, which may
 * be younger than the release. `gone`: it was freed, and no vote for it can follow.
 */
type State = 'standing' | 'leaving' | 'doubtful' | 'gone';

/** `voted`: too late to count. The others are answers to a release: `freed` for good, `answered` otherwise, or `unanswered`. */
type Event = 'voted' | 'freed' | 'answered' | 'unanswered';

/** Whatever becomes `leaving` is released. */
const NEXT: Readonly<Record<State, Readonly<Record<Event, State>>>> = {
  standing: { voted: 'leaving', freed: 'gone', answered: 'standing', unanswered: 'standing' },
  leaving: { voted: 'doubtful', freed: 'gone', answered: 'standing', unanswered: 'standing' },
  doubtful: { voted: 'doubtful', freed: 'gone', answered: 'leaving', unanswered: 'standing' },
  gone: { voted: 'gone', freed: 'gone', answered: 'standing', unanswered: 'standing' },
};

/** Whether a release freed something at this node; undefined where nobody knows. */
export type Told = (freed: boolean | undefined, node: number) => void;

/** The claim of which a node has its part. */
export interface ClaimOfAll {
  readonly tag: string;
  /** With the lease that it is renewed to by now. */
  readonly claim: Claim;
  /** How long the node may take, ms. */
  readonly within: number;
  heard(claim: NodeClaim, answer: NodeAnswer): void;
  /** Whether the vote for this claim is not wanted any more. */
  isOver(claim: NodeClaim): boolean;
}

/** A claim as one node has it, under an id of its own, which is never used again once the claim was released or forgotten. */
export class NodeClaim implements Hearing<Attempt> {
  readonly node: number;
  readonly #whole: ClaimOfAll;
  readonly #node: Node;
  #claim: Claim;
  #state: State = 'standing';
  /** More than once, to raise its number: a release may free the first vote, and be overtaken by the second. */
  #asked = 0;
  #renewals: Unanswered | undefined;
  #sent = 0;

  constructor(whole: ClaimOfAll, node: Node, i: number, id: string, atLeast: bigint | undefined) {
    const { tag, within } = whole;
    const { key, take, of, readWrite, ttl, span, lingers } = whole.claim;
    const label = `${tag} ${whole.claim.label}`;
    this.#whole = whole;
    this.#node = node;
    this.node = i;
    this.#claim = { key, id, take, of, readWrite, ttl, queue: false, span, within, atLeast, lingers, label };
  }

  /** The claim as the node has it, or is to have it now. */
  get current(): Claim {
    return { ...this.#claim, ttl: this.#whole.claim.ttl };
  }

  get renewals(): Unanswered {
    this.#renewals ??= new Unanswered();
    return this.#renewals;
  }

  get atLeast(): bigint | undefined {
    return this.#claim.atLeast;
  }

  ask(sent: number): void {
    this.#asked++;
    this.#sent = sent;
    this.#node.attempt(this.#claim, sent, this);
  }

  raise(atLeast: bigint, sent: number): void {
    this.#claim = { ...this.#claim, atLeast };
    this.ask(sent);
  }

  /** A grant counts where the run is the one that granted it, and has not forgotten what it granted before. */
  answered(answer: Attempt): void {
    if (!answer.granted) {
      this.#whole.heard(this, answer.late ? LATE : REFUSED);
      return;
    }
    const known = this.#node.trust.known(this.#claim.ttl, this.#sent);
    if (!known) this.#granted(answer);
    else
      known.then(
        () => this.#granted(answer),
        (why) => this.failed(why),
      );
  }

  failed(why: unknown): void {
    this.#node.failedWith(why);
    this.#whole.heard(this, noOf(why));
  }

  #granted({ ticket, span = this.#claim.span, validFor, lost }: Grant): void {
    const { doubt } = this.#node.trust; // also where another attempt has learnt of the new run first
    const until = this.#sent + Math.min(validFor, this.#claim.ttl);
    this.#whole.heard(this, doubt ? noOf(doubt) : { kind: 'yes', ticket, span, until, lost });
  }

  /** Its vote was counted as unknown, and is asked for or released as such. */
  late({ granted }: Attempt): void {
    if (granted && this.#whole.isOver(this)) this.release();
  }

  /** The vote came when the ballot was over. It goes back, unless what is on its way takes it along. */
  votedTooLate(): void {
    this.#on('voted');
  }

  release(told?: Told): void {
    this.#state = 'leaving';
    const { claim, within } = this.#whole;
    this.#node.releases.begin(this.#claim, within, claim.ttl + within, (freed) => {
      told?.(freed, this.node);
      if (freed === undefined) this.#on('unanswered');
      else this.#on(freed && this.#asked === 1 ? 'freed' : 'answered');
    });
  }

  #on(event: Event): void {
    this.#state = NEXT[this.#state][event];
    if (this.#state === 'leaving') this.release();
  }
}
