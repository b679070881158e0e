import {
  type Attempt,
  type Claim,
  deadlineOf,
  type Grant,
  leastOf,
  type Renewal,
  sentLater,
} from '../../core/index.ts';
import { type Node, nodeTimeoutOf, type QuorumContext } from './node.ts';
import { NodeClaims, type VoteReceiver } from './node-claims.ts';
import {
  Answers,
  mayKeep,
  type NodeAnswer,
  REFUSED,
  type ReleaseAnswer,
  refusalOf,
  tally,
  tallyRelease,
  tallyRenewal,
  worthOf,
} from './tally.ts';

/** `new`: no node was asked yet. `voting`: the outcome is open. `held`: a majority admitted the claim. `lost`: no majority can admit it any more. */
type State = 'new' | 'voting' | 'held' | 'lost' | 'released';
type Event = 'open' | 'won' | 'lost' | 'release';

const NEXT: Readonly<Record<State, Readonly<Partial<Record<Event, State>>>>> = {
  new: { open: 'voting', lost: 'lost', release: 'released' },
  voting: { won: 'held', lost: 'lost', release: 'released' },
  held: { release: 'released' },
  lost: { release: 'released' },
  released: {},
};

/** One claim that all nodes vote on at once, and the outcome of the vote. */
export class Ballot implements VoteReceiver {
  readonly claims: NodeClaims;
  grant: Grant | undefined;
  #state: State = 'new';
  readonly #context: QuorumContext;
  readonly #began: number;
  readonly #outcome = Promise.withResolvers<Attempt>();
  /** Aborts when the votes left are no majority. Created only if a node can report a lost vote, since a controller costs as much as a message. */
  #lost: AbortController | undefined;

  constructor(context: QuorumContext, claim: Claim) {
    this.#context = context;
    this.claims = new NodeClaims(context, claim, this);
    this.#began = context.clock.now();
  }

  get isOver(): boolean {
    return this.#state === 'lost' || this.#state === 'released';
  }

  /** True if no node has refused the claim so far. */
  get unanimous(): boolean {
    return this.claims.answers.every((answer) => answer !== REFUSED);
  }

  /**
   * Asks all nodes, unless the claim was released before.
   * @param few if true, a few nodes are asked first, and the others only if one of the few does not refuse
   */
  open(few = false): Promise<Attempt> {
    if (this.#on('open')) {
      this.claims.askFirst(few, this.#proposal);
      this.#count();
    }
    return this.#outcome.promise;
  }

  /** Refuses the claim without a vote, because another process goes first. */
  pass(): Attempt {
    const refusal: Attempt = { granted: false };
    if (this.#on('lost')) this.#outcome.resolve(refusal);
    return refusal;
  }

  /** Gives the outcome for a caller that asked again at `sent`. The lease runs from the first request, so less of it remains. */
  async outcomeFor(sent: number): Promise<Attempt> {
    const answer = await this.#outcome.promise;
    return answer.granted ? { ...answer, validFor: sentLater(answer.validFor, sent - this.#began) } : answer;
  }

  receiveVote(): void {
    this.#count();
    if (this.#state === 'held' && this.#lost && this.claims.answers.filter(mayKeep).length < this.#context.majority)
      this.#lost.abort();
  }

  /**
   * Asks a node for the vote that it lost or never gave. Call this only right after a majority confirmed the hold: then no other
   * claim can win, and the new vote takes nothing from another caller. So a hold survives even if all nodes restart, one after the other.
   */
  mend(i: number): void {
    if (this.#state !== 'held') return;
    const { token, tokenCount = 1 } = this.grant!;
    // The node is asked for the last token of the hold: the holder may use all its tokens, so the node must give none of them again.
    this.claims.ask(i, this.claims.fenced ? token + BigInt(tokenCount - 1) : undefined);
  }

  /** Releases the claim on every node that may hold it. Resolves when it is certain whether the release freed a majority. */
  release(): Promise<boolean | 'unknown'> {
    const open = this.claims.answers.map((answer): ReleaseAnswer => (mayKeep(answer) ? 'open' : 'nothing'));
    const answers = new Answers(open, (all) => tallyRelease(all, this.#context.majority));
    // An error with its stack is the most expensive step here, so it is created only if a caller may wait for the outcome.
    if (!this.grant) this.#fail(new Error('it was released before it was answered'));
    this.#on('release');
    this.claims.release((freed, i) =>
      answers.receive(i, freed === undefined ? 'unknown' : freed ? 'freed' : 'nothing'),
    );
    return answers.outcome;
  }

  /** Returns false if the state does not allow the event. */
  #on(event: Event): boolean {
    const next = NEXT[this.#state][event];
    this.#state = next ?? this.#state;
    return next !== undefined;
  }

  /** The token that the nodes are asked for, above all tokens that this process was given; undefined if each node may choose its own. */
  get #proposal(): bigint | undefined {
    const { highest } = this.#context;
    const { minToken = 0n } = this.claims.claim;
    const proposal = minToken > highest ? minToken : highest + 1n;
    return proposal > 1n ? proposal : undefined;
  }

  #count(): void {
    if (this.#state !== 'voting') return;
    const { answers, fenced, few } = this.claims;
    if (few === 'open') return;
    if (few === 'refused') return void this.pass();
    if (few) this.claims.askRest(this.#proposal);
    const verdict = tally(answers, this.#context.majority, fenced);
    if (verdict.kind === 'won') this.#win(verdict.token);
    else if (verdict.kind === 'lost') this.#lose();
    else if (verdict.kind === 'raise') this.claims.raise(verdict.to);
  }

  #win(token: bigint): void {
    const { majority, clock, worth } = this.#context;
    const { answers, fenced, tag } = this.claims;
    const { until, tokenCount, losable } = worthOf(answers, majority, fenced ? token : undefined);
    const validFor = (until - this.#began) * worth;
    if (deadlineOf(this.#began, validFor) <= clock.now()) {
      this.#lose(); // the vote took longer than the lease
      return;
    }
    this.#on('won');
    const last = token + BigInt(tokenCount) - 1n;
    if (fenced && last > this.#context.highest) this.#context.highest = last;
    if (losable) this.#lost = new AbortController();
    const shown = fenced ? token : BigInt(`0x${tag}`);
    this.grant = { granted: true, token: shown, tokenCount, validFor, lost: this.#lost?.signal };
    this.#outcome.resolve(this.grant);
  }

  /** Ends a lost ballot. Releases its votes at once, and later votes when they come. */
  #lose(): void {
    this.#on('lost');
    const { answers, claim } = this.claims;
    this.claims.release();
    try {
      this.#outcome.resolve(refusalOf(claim.key, this.#context, answers));
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    this.#outcome.promise.catch(() => {}); // if nothing has called `open` yet, Node would report an unhandled rejection
    this.#outcome.reject(error);
  }
}

/** The renewal of one hold. It has no ballot if this process does not know the hold. */
interface HoldRenewal {
  readonly ballot: Ballot | undefined;
  /** The votes as the renewal began. */
  readonly votes: readonly NodeAnswer[];
  readonly answers: Answers<Renewal | 'open', Renewal>;
}

/**
 * Renews holds, with one request to each node that may have a vote for one of them. When a majority has confirmed a hold, the nodes
 * without a vote for that hold are asked for a vote.
 */
export async function renew(
  claims: readonly Claim[],
  ballots: ReadonlyMap<string, Ballot>,
  { nodes, majority, clock, worth }: QuorumContext,
): Promise<Renewal[]> {
  const within = nodeTimeoutOf({ ttl: leastOf(claims.map(({ ttl }) => ttl)), within: Number.POSITIVE_INFINITY });
  const now = clock.now();
  const holds = claims.map((claim): HoldRenewal => {
    const ballot = ballots.get(claim.id);
    ballot?.claims.setLease(claim, now + claim.ttl + 2 * within);
    const votes = ballot?.grant ? [...ballot.claims.answers] : nodes.map(() => REFUSED);
    const open = votes.map((vote): Renewal | 'open' => (mayKeep(vote) ? 'open' : 'gone'));
    return { ballot, votes, answers: new Answers(open, (all) => tallyRenewal(all, majority)) };
  });
  const asking = nodes.map((node, i) => ask(node, i, holds, within));
  const renewals = await Promise.all(holds.map(({ answers }) => answers.outcome));
  void Promise.all(asking).then(() => {
    for (const [j, hold] of holds.entries()) if (typeof renewals[j] === 'object') mend(hold);
  });
  return renewals.map((each) => (typeof each === 'object' ? { ...each, validFor: each.validFor * worth } : each));
}

async function ask(node: Node, i: number, all: readonly HoldRenewal[], within: number): Promise<void> {
  const holds = all.filter(({ answers }) => answers.all[i] === 'open');
  if (holds.length === 0) return;
  const parts = holds.map(({ ballot }) => ballot!.claims.at(i));
  const claims = parts.map(({ current }) => current);
  const safeFor = parts.map(({ renewals }, at) => renewals.begin(claims[at]!.ttl));
  const renewed = await node.renew(claims, within).catch(() => []);
  for (const [at, { answers }] of holds.entries()) {
    const answer = renewed[at] ?? 'unknown';
    parts[at]!.renewals.end(claims[at]!.ttl, answer !== 'unknown');
    const safe = typeof answer === 'object' ? { ...answer, validFor: Math.min(answer.validFor, safeFor[at]!) } : answer;
    answers.receive(i, safe);
  }
}

/** Another renewal may have mended a vote, or the vote may have come late. A second one would leave it behind at its node. */
function mend({ ballot, votes, answers }: HoldRenewal): void {
  for (const [i, answer] of answers.all.entries())
    if (answer === 'gone' && ballot!.claims.answers[i] === votes[i]) ballot!.mend(i);
}
