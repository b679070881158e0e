import { leastOf, type Renewal } from '../../core/index.ts';
import type { NodeAnswer } from './node-answer.ts';

/** The vote of one node on a claim. It is `open` until the node answers. */
export type Vote =
  | { readonly kind: 'open' }
  | { readonly kind: 'yes'; readonly token: bigint }
  | { readonly kind: 'no' };

/** `raise`: a majority admits the claim, but under different numbers. The nodes with a lower number than `to` are asked to take `to`. */
export type Verdict =
  | { readonly kind: 'open' | 'lost' }
  | { readonly kind: 'won'; readonly token: bigint }
  | { readonly kind: 'raise'; readonly to: bigint };

const OPEN: Verdict = { kind: 'open' };
const LOST: Verdict = { kind: 'lost' };

/** More than half of all nodes, silent ones included, are a majority: any two majorities share a node. */
export const majorityOf = (nodes: number): number => Math.floor(nodes / 2) + 1;

/**
 * Settles as soon as no missing answer can change the outcome.
 *
 * A fenced claim wins when one and the same majority admits it and keeps one and the same number as its highest. That number is the token.
 * The next winner shares a node with this majority, which gives it a higher number, and its token is at least what each node of its own
 * majority gave. It is not enough to count admissions over one majority and stored numbers over another: then tokens come out of order, as
 * `test/backends/quorum/tokens.test.ts` shows.
 */
export function tally(votes: readonly Vote[], majority: number, fenced: boolean): Verdict {
  const tokens: bigint[] = [];
  let open = 0;
  for (const vote of votes) {
    if (vote.kind === 'yes') tokens.push(vote.token);
    else if (vote.kind === 'open') open++;
  }
  if (tokens.length + open < majority) return LOST;
  if (tokens.length < majority) return OPEN;
  const agreed = fenced
    ? tokens.find((token) => tokens.filter((each) => each === token).length >= majority)
    : tokens.reduce((most, each) => (each > most ? each : most));
  if (agreed !== undefined) return { kind: 'won', token: agreed };
  tokens.sort((a, b) => (a < b ? -1 : 1));
  return { kind: 'raise', to: tokens[majority - 1]! };
}

/**
 * Says what the votes for a claim are worth: it is good while a majority keeps it, for as many tokens in a row as each of them gave.
 * @param token only votes under this number count, if one is given
 */
export function worthOf(
  answers: readonly NodeAnswer[],
  majority: number,
  token: bigint | undefined,
): { readonly until: number; readonly tokenCount: number; readonly losable: boolean } {
  const votes = answers.filter((each) => each.kind === 'yes');
  const good = token === undefined ? votes : votes.filter((each) => each.token === token);
  const until = good.map((each) => each.until).sort((a, b) => b - a)[majority - 1]!;
  return {
    until,
    tokenCount: leastOf(good.map(({ tokenCount }) => tokenCount)),
    losable: good.some(({ lost }) => lost),
  };
}

/**
 * Counts the answers to a renewal; `undefined` while the result is open. A hold is good for as long as a majority of its
 * nodes keeps it, and gone when no majority can keep it any more.
 */
export function tallyRenewal(answers: readonly (Renewal | 'open')[], majority: number): Renewal | undefined {
  const good = answers.flatMap((answer) => (typeof answer === 'object' ? [answer.validFor] : []));
  const open = answers.filter((answer) => answer === 'open').length;
  const unknown = answers.filter((answer) => answer === 'unknown').length;
  if (good.length >= majority) return { validFor: good.sort((a, b) => b - a)[majority - 1]! };
  if (good.length + open + unknown < majority) return 'gone';
  return open === 0 ? 'unknown' : undefined;
}

export type ReleaseAnswer = 'freed' | 'nothing' | 'unknown' | 'open';

/**
 * Says whether a release freed a hold; `undefined` while that is open. A vote whose release is unknown expires, or is freed in the
 * background.
 */
export function tallyRelease(answers: readonly ReleaseAnswer[], majority: number): boolean | 'unknown' | undefined {
  const count = { freed: 0, nothing: 0, unknown: 0, open: 0 };
  for (const answer of answers) count[answer]++;
  if (count.freed >= majority) return true;
  if (answers.length - count.nothing < majority) return false;
  if (count.open > 0) return undefined;
  return count.freed > 0 || 'unknown';
}

/** The answers of all nodes to one question, and the outcome once it is certain. The first outcome is final. */
export class Answers<Answer, Outcome> {
  readonly all: Answer[];
  readonly #tally: (all: readonly Answer[]) => Outcome | undefined;
  readonly #outcome = Promise.withResolvers<Outcome>();

  /** @param tally returns undefined while a missing answer may still change the outcome */
  constructor(all: Answer[], tally: (all: readonly Answer[]) => Outcome | undefined) {
    this.all = all;
    this.#tally = tally;
    this.#count();
  }

  get outcome(): Promise<Outcome> {
    return this.#outcome.promise;
  }

  receive(i: number, answer: Answer): void {
    this.all[i] = answer;
    this.#count();
  }

  #count(): void {
    const outcome = this.#tally(this.all);
    if (outcome !== undefined) this.#outcome.resolve(outcome);
  }
}
