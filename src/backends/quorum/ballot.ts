import { isExclusive } from '../../core/admission.ts';
import type { Attempt, Claim, Grant } from '../../core/backend.ts';
import { deadlineOf, sentLater } from '../../core/deadline.ts';
import { answerOf } from './answer.ts';
import { nodeTimeoutOf, type QuorumContext } from './context.ts';
import { LATE, lostOf, type NodeAnswer, OPEN, REFUSED, UNASKED } from './node-answer.ts';
import { tally, tallyRelease } from './tally.ts';
import { Unanswered } from './unanswered.ts';

/** One claim put to all nodes at once; afterwards, what each of them keeps of it, until it is given back. */
export class Ballot {
  readonly outcome: Promise<Attempt>;
  /** What tells it from all others where everyone may see it. */
  readonly tag: string;
  /** With the lease that it is renewed to by now. */
  claim: Claim;
  /** By when no node has any of it, should it never be given back. */
  lapses = Number.POSITIVE_INFINITY;
  grant: Grant | undefined;
  readonly unanswered = new Unanswered();
  readonly #context: QuorumContext;
  readonly #fenced: boolean;
  readonly #within: number;
  readonly #began: number;
  /** The claim as each node has it, under an id of its own. */
  readonly #claims: Claim[] = [];
  readonly #said: NodeAnswer[];
  /** Ids given back: on their way; so, and a vote came meanwhile, which may be younger than what takes it back; or gone. */
  readonly #back = new Map<string, 'leaving' | 'doubtful' | 'gone'>();
  /** Where a node can tell that its vote is gone. Made when needed: to abort one costs as much as a message. */
  #lost: AbortController | undefined;
  readonly #settle = Promise.withResolvers<Attempt>();
  #settled = false;
  /** A node was asked twice under one id: a release may free the first vote, and be overtaken by the second. */
  #raised = false;
  #over = false;

  constructor(context: QuorumContext, claim: Claim) {
    const { nodes, clock } = context;
    this.#context = context;
    this.claim = claim;
    this.tag = clock.id().slice(0, 15);
    this.#fenced = context.fenced && isExclusive(claim);
    this.#within = nodeTimeoutOf(claim);
    this.#began = clock.now();
    this.#said = nodes.map(() => UNASKED);
    this.outcome = this.#settle.promise;
    this.outcome.catch(() => {}); // whoever asked is told; a ballot that was given back has nobody
  }

  /** Asks all nodes, unless the claim was given back meanwhile. */
  open(): Promise<Attempt> {
    if (this.#over) return this.outcome;
    const { nodes, clock, highest } = this.#context;
    const { atLeast = 0n } = this.claim;
    const proposal = atLeast > highest ? atLeast : highest + 1n;
    for (const i of nodes.keys()) {
      const { absence } = nodes[i]!;
      this.#said[i] = absence ? { kind: 'no', why: absence, asked: false } : OPEN;
    }
    const sent = clock.now();
    for (const i of nodes.keys()) if (this.#said[i] === OPEN) this.#ask(i, proposal > 1n ? proposal : undefined, sent);
    this.#count();
    return this.outcome;
  }

  /** The outcome for one who asked at `sent`, later than the first: the nodes have been counting since they were asked. */
  async outcomeFor(sent: number): Promise<Attempt> {
    const answer = await this.outcome;
    return answer.granted ? { ...answer, validFor: sentLater(answer.validFor, sent - this.#began) } : answer;
  }

  /** Whether a node may keep this claim: it says so, or nobody knows. */
  keeps(i: number): boolean {
    const said = this.#said[i]!;
    return said.kind !== 'no' || said.asked;
  }

  /** The claim as the node has it, or is to have it now. */
  at(i: number): Claim {
    return { ...this.#claims[i]!, ttl: this.claim.ttl };
  }

  /** It is renewed to the lease of this claim. */
  lasts(claim: Claim, lapses: number): void {
    this.claim = claim;
    this.lapses = lapses;
  }

  /** Nodes that admitted it, when it was counted. */
  get unanimous(): boolean {
    return this.#said.every((said) => said !== REFUSED);
  }

  /**
   * Asks a node for the vote it lost or never gave. Only right after a majority has confirmed the hold: then nobody else can
   * have one, and this vote takes nothing from anybody. So a hold outlives the restart of each node, one after the other.
   */
  mend(i: number): void {
    if (this.#over || this.#said[i] === OPEN || !this.grant) return;
    this.#freshId(i);
    // The last of its numbers: all of them may be shown, and the node gives none of them again.
    this.#ask(i, this.#fenced ? this.grant.ticket + BigInt((this.grant.span ?? 1) - 1) : undefined);
  }

  /**
   * Gives it back on every node that may have some of it. Resolves when it is certain whether that freed a majority; what is
   * left goes on in the background.
   */
  giveBack(): Promise<boolean> {
    this.#finish();
    const { nodes, majority } = this.#context;
    const answers = nodes.map((_, i): 'open' | 'nothing' | 'freed' | 'unknown' => (this.keeps(i) ? 'open' : 'nothing'));
    return new Promise((resolve, reject) => {
      const count = (): void => {
        const freed = tallyRelease(answers, majority);
        if (freed === 'unknown') reject(new Error('no node has said whether it was released'));
        else if (freed !== undefined) resolve(freed);
      };
      for (const [i, answer] of answers.entries()) {
        if (answer === 'nothing') continue;
        this.#undo(i, (freed) => {
          answers[i] = freed === undefined ? 'unknown' : freed ? 'freed' : 'nothing';
          count();
        });
      }
      count();
      if (!this.#settled) this.#end(() => this.#settle.reject(new Error('it was given back before it was answered')));
    });
  }

  #ask(i: number, atLeast: bigint | undefined, sent = this.#context.clock.now()): void {
    const claim = this.#claimAt(i, atLeast);
    this.#say(i, OPEN);
    this.#context.nodes[i]!.attempt(claim, sent, {
      answered: (answer) => this.#heard(i, claim, answer, sent),
      failed: (why) => this.#hear(i, { kind: 'no', why: errorOf(why), asked: true }),
      late: ({ granted }) => {
        // Its vote was counted as unknown, and is asked for or given back as such: back it goes only if it is over by now.
        if (granted && (this.#over || this.#claims[i]!.id !== claim.id)) this.#undo(i, undefined, claim);
      },
    });
  }

  #claimAt(i: number, atLeast: bigint | undefined): Claim {
    const known = this.#claims[i];
    const { key, take, of, readWrite, ttl, span, lingers } = this.claim;
    if (known && known.atLeast === atLeast && known.ttl === ttl) return known;
    const id = known?.id ?? this.#context.clock.id();
    const label = `${this.tag} ${this.claim.label}`;
    const within = this.#within;
    const claim = { key, id, take, of, readWrite, ttl, queue: false, span, within, atLeast, lingers, label };
    this.#claims[i] = claim;
    return claim;
  }

  #heard(i: number, claim: Claim, answer: Attempt, sent: number): void {
    const keptLower = answer.granted && claim.atLeast !== undefined && answer.ticket < claim.atLeast;
    if (keptLower && this.#fenced && !this.#over) this.#anew(i, claim);
    else if (answer.granted) {
      const { ticket, span = claim.span, validFor, lost } = answer;
      this.#hear(i, { kind: 'yes', ticket, span, until: sent + Math.min(validFor, this.claim.ttl), lost });
    } else this.#hear(i, answer.late ? LATE : REFUSED);
  }

  /** An engine that cannot raise a ticket: the vote is given back and asked for once more, as a new one. */
  #anew(i: number, { atLeast }: Claim): void {
    const old = this.#claims[i]!;
    this.#freshId(i);
    this.#undo(
      i,
      () => {
        if (this.#over) this.#hear(i, REFUSED);
        else this.#ask(i, atLeast);
      },
      old,
    );
  }

  /** An id that was given back, or that its node has forgotten, is never used again. */
  #freshId(i: number): void {
    const known = this.#claims[i];
    if (!known) return;
    this.unanswered.forget(known.id);
    this.#claims[i] = { ...known, id: this.#context.clock.id() };
  }

  #hear(i: number, said: NodeAnswer): void {
    this.#say(i, said);
    if (said.kind === 'yes') {
      const last = said.ticket + BigInt(said.span) - 1n;
      if (last > this.#context.highest) this.#context.highest = last;
      if (this.#over) this.#undoAfter(i);
    }
    this.#count();
    if (!this.#lost || this.#over) return;
    const kept = this.#said.filter((_, j) => this.keeps(j)).length;
    if (kept < this.#context.majority) this.#lost.abort();
  }

  /** Listens to the votes that there are, and to no others: many may be lost with one session, which lasts. */
  #say(i: number, said: NodeAnswer): void {
    lostOf(this.#said[i]!)?.removeEventListener('abort', this);
    this.#said[i] = said;
    if (!this.#over) lostOf(said)?.addEventListener('abort', this, { once: true });
  }

  /** Of a node that has lost its vote. */
  handleEvent(): void {
    for (const [i, said] of this.#said.entries()) if (lostOf(said)?.aborted) this.#hear(i, REFUSED);
  }

  #finish(): void {
    this.#over = true;
    for (const said of this.#said) lostOf(said)?.removeEventListener('abort', this);
  }

  #count(): void {
    if (this.#settled) return;
    const verdict = tally(this.#said, this.#context.majority, this.#fenced);
    if (verdict.kind === 'won') this.#win(verdict.ticket);
    else if (verdict.kind === 'lost') this.#lose();
    else if (verdict.kind === 'raise') {
      this.#raised = true;
      for (const [i, said] of this.#said.entries())
        if (said.kind === 'yes' && said.ticket < verdict.to) this.#ask(i, verdict.to);
    }
  }

  #win(ticket: bigint): void {
    const { majority, clock, worth } = this.#context;
    const good = this.#said
      .filter((said) => said.kind === 'yes')
      .filter((said) => !this.#fenced || said.ticket === ticket);
    const until = good.map((said) => said.until).sort((a, b) => b - a)[majority - 1]!;
    const validFor = (until - this.#began) * worth;
    if (deadlineOf(this.#began, validFor) <= clock.now()) {
      this.#lose(); // slower than the lease
      return;
    }
    if (good.some((said) => said.lost)) this.#lost = new AbortController();
    const shown = this.#fenced ? ticket : BigInt(`0x${this.tag}`);
    const span = Math.min(...good.map((said) => said.span));
    const grant: Grant = { granted: true, ticket: shown, span, validFor, lost: this.#lost?.signal };
    this.grant = grant;
    this.#end(() => this.#settle.resolve(grant));
  }

  /** A minority is given back at once, and what is still to come, when it comes. */
  #lose(): void {
    const said = [...this.#said];
    this.#finish();
    for (const i of said.keys()) if (this.keeps(i)) this.#undo(i);
    this.#end(() => {
      try {
        this.#settle.resolve(answerOf(this.claim.key, this.#context, said));
      } catch (error) {
        this.#settle.reject(error);
      }
    });
  }

  #end(settle: () => void): void {
    this.#settled = true;
    settle();
  }

  #undo(i: number, told?: (freed: boolean | undefined) => void, handle: Claim = this.#claims[i]!): void {
    const lapse = this.claim.ttl + this.#within;
    this.#back.set(handle.id, 'leaving');
    this.#context.nodes[i]!.undo(handle, this.#within, lapse, (freed) => {
      const doubtful = this.#back.get(handle.id) === 'doubtful';
      const gone = freed && !this.#raised;
      if (gone) this.#back.set(handle.id, 'gone');
      else this.#back.delete(handle.id);
      told?.(freed);
      if (doubtful && freed !== undefined && !gone) this.#undo(i, undefined, handle);
    });
  }

  /** A vote that came too late goes back, unless what is on its way takes it along. */
  #undoAfter(i: number): void {
    const { id } = this.#claims[i]!;
    const back = this.#back.get(id);
    if (back === undefined) this.#undo(i);
    else if (back === 'leaving') this.#back.set(id, 'doubtful');
  }
}

const errorOf = (why: unknown): Error => (why instanceof Error ? why : new Error(String(why)));
