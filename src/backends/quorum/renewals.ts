import { type Claim, leastOf, type Renewal } from '../../core/index.ts';
import type { Ballot } from './ballot.ts';
import type { Node } from './node.ts';
import { nodeTimeoutOf, type QuorumContext } from './node.ts';
import { mayKeep } from './node-answer.ts';
import { Answers, tallyRenewal } from './tally.ts';

/** The renewal of one hold. It has no ballot if this process does not know the hold. */
interface HoldRenewal {
  readonly ballot: Ballot | undefined;
  readonly answers: Answers<Renewal | 'open', Renewal>;
}

/**
 * Renews holds, with one request to each node. Every node that may have some of a hold is asked; when a majority has confirmed it, the
 * others are asked for their vote again.
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
    const open = nodes.map((_, i): Renewal | 'open' =>
      ballot?.grant && mayKeep(ballot.claims.answers[i]!) ? 'open' : 'gone',
    );
    return { ballot, answers: new Answers(open, (all) => tallyRenewal(all, majority)) };
  });
  const asking = nodes.map((node, i) => ask(node, i, holds, within));
  const renewals = await Promise.all(holds.map(({ answers }) => answers.outcome));
  void Promise.all(asking).then(() => {
    for (const [j, hold] of holds.entries()) if (typeof renewals[j] === 'object') mend(hold);
  });
  return renewals.map((each) => (typeof each === 'object' ? { validFor: each.validFor * worth } : each));
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
    answers.receive(i, typeof answer === 'object' ? { validFor: Math.min(answer.validFor, safeFor[at]!) } : answer);
  }
}

function mend({ ballot, answers }: HoldRenewal): void {
  for (const [i, answer] of answers.all.entries()) if (answer === 'gone') ballot!.mend(i);
}
