import { type Attempt, type Claim, type Grant, LockError, leastOf } from '../../core/index.ts';
import type { Receiver } from './link.ts';
import type { Node } from './node.ts';
import { flawOf, type NodeAnswer, noOf, REFUSED, TOO_LATE } from './tally.ts';

/**
 * `settled`: no release is under way. `releasing`: a release is under way. `doubtful`: a release is under way, and a vote came that may be newer than
 * the release. `gone`: a release freed the claim, and no vote for it can follow.
 */
type State = 'settled' | 'releasing' | 'doubtful' | 'gone';

/** `voted`: a vote came too late to count. The others end a release. `freed`: no vote can follow. `answered`: a vote may follow. `unanswered`: no answer. */
type Event = 'voted' | 'freed' | 'answered' | 'unanswered';

/** A claim is released each time its state becomes `releasing`. */
const NEXT: Readonly<Record<State, Readonly<Record<Event, State>>>> = {
  settled: { voted: 'releasing', freed: 'gone', answered: 'settled', unanswered: 'settled' },
  releasing: { voted: 'doubtful', freed: 'gone', answered: 'settled', unanswered: 'settled' },
  doubtful: { voted: 'doubtful', freed: 'gone', answered: 'releasing', unanswered: 'settled' },
  gone: { voted: 'gone', freed: 'gone', answered: 'settled', unanswered: 'settled' },
};

/** Receives whether a release freed a vote at this node; undefined if that is unknown. */
export type OnRelease = (freed: boolean | undefined, node: number) => void;

/** The claim at all nodes; each node has a part of it. */
export interface ClaimOfAll {
  readonly tag: string;
  /** The claim, with the lease of its latest renewal. */
  readonly claim: Claim;
  /** How long a node may take to answer, ms. */
  readonly within: number;
  receive(claim: NodeClaim, answer: NodeAnswer): void;
  /** True if the ballot no longer needs this vote. */
  isOver(claim: NodeClaim): boolean;
}

/**
 * The renewals of one claim that its node has not answered. An old renewal may arrive after a later one, and then the claim gets the
 * shorter lease of the old renewal. So a vote is safe for no longer than the shortest unanswered lease.
 */
export class PendingRenewals {
  /** The leases (ms) of the requests under way, and the shortest lease of a request whose answer will never come. */
  #open: readonly number[] = [];
  #lostTtl = Number.POSITIVE_INFINITY;

  /** Notes that a renewal to `ttl` was sent. Returns for how many ms the vote is safe once the node confirms the renewal. */
  begin(ttl: number): number {
    const safeFor = leastOf(this.#open, Math.min(ttl, this.#lostTtl));
    this.#open = [...this.#open, ttl];
    return safeFor;
  }

  /** @param known true if the node answered; otherwise the renewal may still arrive */
  end(ttl: number, known: boolean): void {
    this.#open = this.#open.toSpliced(this.#open.indexOf(ttl), 1);
    if (!known) this.#lostTtl = Math.min(ttl, this.#lostTtl);
  }
}

/** The part of a claim at one node. It has its own id, which is never used again after the claim is released or forgotten. */
export class NodeClaim implements Receiver<Attempt> {
  readonly node: number;
  readonly #whole: ClaimOfAll;
  readonly #node: Node;
  #claim: Claim;
  #state: State = 'settled';
  /**
   * How often the node was asked. A second request raises the token. A release may free the first vote before the second request
   * arrives and gives a new vote. If the second request comes too late, the node keeps the first vote.
   */
  #asked = 0;
  #renewals: PendingRenewals | undefined;
  #sent = 0;

  constructor(whole: ClaimOfAll, node: Node, i: number, id: string, minToken: bigint | undefined) {
    const { tag, within } = whole;
    const { key, units, capacity, readWrite, ttl, tokenCount, lingers } = whole.claim;
    const label = `${tag} ${whole.claim.label}`;
    this.#whole = whole;
    this.#node = node;
    this.node = i;
    this.#claim = {
      ...{ key, id, units, capacity, readWrite, ttl, queue: false },
      ...{ tokenCount, within, minToken, lingers, label },
    };
  }

  /** The claim that the node has, or should have now. */
  get current(): Claim {
    return { ...this.#claim, ttl: this.#whole.claim.ttl };
  }

  get renewals(): PendingRenewals {
    this.#renewals ??= new PendingRenewals();
    return this.#renewals;
  }

  get minToken(): bigint | undefined {
    return this.#claim.minToken;
  }

  ask(sent: number): void {
    this.#asked++;
    this.#sent = sent;
    this.#node.attempt(this.#claim, sent, this);
  }

  raise(minToken: bigint, sent: number): void {
    this.#claim = { ...this.#claim, minToken };
    this.ask(sent);
  }

  /** A grant counts only if the guard confirms the run of the server that gave it: a new run may have forgotten earlier grants. */
  onAnswer(answer: Attempt): void {
    const flaw = flawOf(answer);
    if (flaw !== undefined) {
      this.onFailure(new LockError('LOCK_UNSUPPORTED', flaw));
      return;
    }
    if (!answer.granted) {
      this.#whole.receive(this, answer.late ? { ...TOO_LATE, mayHold: this.#asked > 1 } : REFUSED);
      return;
    }
    const confirmation = this.#node.guard.confirmRun(this.#claim.ttl, this.#sent);
    if (!confirmation) this.#receiveGrant(answer);
    else
      this.#node
        .limited(confirmation, this.#whole.within)
        .then(() => this.#receiveGrant(answer))
        .catch((why) => this.onFailure(why)); // also if the vote cannot be counted: a backend that a user wrote may give any answer
  }

  onFailure(why: unknown): void {
    this.#node.noteFailure(why, this.#claim.ttl);
    const isOver = this.#whole.isOver(this);
    this.#whole.receive(this, noOf(why));
    if (isOver) this.releaseLateVote(); // the vote may have come after the release of the ballot, and no answer would ever tell
  }

  #receiveGrant({ token, tokenCount = this.#claim.tokenCount, validFor, lost }: Grant): void {
    this.#node.guard.review();
    const { doubt } = this.#node.guard; // another attempt may have noticed a restart first
    const obstacle = doubt ?? (lost?.aborted ? new Error('the session of the vote has ended') : undefined);
    const until = this.#sent + Math.min(validFor, this.#claim.ttl);
    if (obstacle) this.onFailure(obstacle);
    else this.#whole.receive(this, { kind: 'yes', token, tokenCount, until, lost });
  }

  /** Handles an answer that came after its time limit, and was counted as unknown. A vote that the ballot no longer needs is released. */
  onLateAnswer({ granted }: Attempt): void {
    if (granted && this.#whole.isOver(this)) this.release();
  }

  /** Releases a vote that came after the end of the ballot, unless a release on its way frees it as well. */
  releaseLateVote(): void {
    this.#on('voted');
  }

  release(onRelease?: OnRelease): void {
    this.#state = 'releasing';
    const { claim, within } = this.#whole;
    this.#node.releases.begin(this.#claim, within, claim.ttl + within, (freed) => {
      onRelease?.(freed, this.node);
      if (freed === undefined) this.#on('unanswered');
      else this.#on(freed && this.#asked === 1 ? 'freed' : 'answered');
    });
  }

  #on(event: Event): void {
    this.#state = NEXT[this.#state][event];
    if (this.#state === 'releasing') this.release();
  }
}
