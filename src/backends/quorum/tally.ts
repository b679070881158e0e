import { type Attempt, isLockError, LockError, leastOf, type Renewal, reasonOf, shown } from '../../core/index.ts';
import type { QuorumContext } from './node.ts';

/** The answer of one node. If `mayHold` is true, the node may hold a part of this claim, which has to be released. */
export type NodeAnswer =
  | { readonly kind: 'open' }
  | {
      readonly kind: 'yes';
      readonly token: bigint;
      /** How many consecutive tokens the node gave. */
      readonly tokenCount: number;
      readonly until: number;
      readonly lost?: AbortSignal | undefined;
    }
  | { readonly kind: 'no'; readonly why: 'refused' | 'late' | Error; readonly mayHold: boolean };

export const OPEN: NodeAnswer = { kind: 'open' };
const errorOf = (why: unknown): Error => (why instanceof Error ? why : new Error(reasonOf(why)));
export const notAsked = (why: unknown): NodeAnswer => ({ kind: 'no', why: errorOf(why), mayHold: false });
export const UNASKED: NodeAnswer = notAsked('was not asked');
export const REFUSED: NodeAnswer = { kind: 'no', why: 'refused', mayHold: false };
export const TOO_LATE = { kind: 'no', why: 'late', mayHold: false } as const satisfies NodeAnswer;

/** Makes the answer of a node that failed: it is unknown whether the node admitted the claim. */
export const noOf = (why: unknown): NodeAnswer => ({ kind: 'no', why: errorOf(why), mayHold: true });

/** True if the node may still hold the claim: the node says so, or its answer is unknown. */
export const mayKeep = (answer: NodeAnswer): boolean => answer.kind !== 'no' || answer.mayHold;

/** Gives the signal that aborts when the vote is lost; undefined if the node does not report that. */
export const lostOf = (answer: NodeAnswer): AbortSignal | undefined =>
  answer.kind === 'yes' ? answer.lost : undefined;

/** Says what is wrong with the answer of a backend to an attempt, since users write backends, too; undefined if nothing is wrong. */
export function flawOf(answer: Attempt | undefined): string | undefined {
  if (typeof answer?.granted !== 'boolean')
    return `it answers an attempt with ${shown(answer)}, which is no grant and no refusal`;
  if (!answer.granted) return undefined;
  const { token, tokenCount = 1, validFor, lost } = answer;
  if (typeof token !== 'bigint') return `it grants with the token ${shown(token)}, which is no bigint`;
  if (!Number.isSafeInteger(tokenCount) || tokenCount < 1) return `it grants ${shown(tokenCount)} tokens`;
  if (lost && typeof lost.aborted !== 'boolean')
    return `it grants with the signal ${shown(lost)}, which is no AbortSignal`;
  return typeof validFor === 'number' && validFor > 0 ? undefined : `it grants for ${shown(validFor)} ms`;
}

/**
 * Explains why a ballot was lost. The claim is refused if at least a majority of the nodes did not fail. A node that
 * may still answer is not counted as failed.
 * @throws LockError if too many nodes will never vote; AggregateError if too many cannot vote for now. Both name each
 * node and its answer
 */
export function refusalOf(key: string, { nodes, majority }: QuorumContext, answers: readonly NodeAnswer[]): Attempt {
  const failed = answers.flatMap((each) => (each.kind === 'no' && each.why instanceof Error ? [each.why] : []));
  const late = answers.filter((each) => each.kind === 'no' && each.why === 'late').length;
  const misuse = failed.find((why) => isLockError(why, 'LOCK_INVALID'));
  if (misuse) throw misuse;
  if (nodes.length - failed.length >= majority) return late > 0 ? { granted: false, late: true } : { granted: false };
  const story = answers.map((each, i) => `${nodes[i]!.title}${wordsFor(each)}`).join('; ');
  const message = `${failed.length} of ${nodes.length} nodes cannot vote, and ${majority} votes are needed: ${story}. Bring back the nodes that are down; check() looks at each`;
  const cause = new AggregateError(failed, message);
  const definite = failed.filter((why) => isLockError(why)).length;
  if (nodes.length - definite >= majority) throw cause;
  throw new LockError('LOCK_UNAVAILABLE', message, { key, backend: 'quorum', cause });
}

function wordsFor(answer: NodeAnswer): string {
  if (answer.kind === 'yes') return ' granted it';
  if (answer.kind === 'open') return ' has not answered yet';
  if (typeof answer.why === 'string') return answer.why === 'late' ? ' was asked too late' : ' refused it';
  const message = reasonOf(answer.why);
  return `: ${message.length > 200 ? `${message.slice(0, 199)}…` : message}`;
}

/** The vote of one node on a claim. It is `open` until the node answers. */
export type Vote = { readonly kind: 'open' | 'no' } | { readonly kind: 'yes'; readonly token: bigint };

/** `raise`: a majority admits the claim, but with different tokens. Each node whose token is below `to` is asked to raise it to `to`. */
export type Verdict =
  | { readonly kind: 'open' | 'lost' }
  | { readonly kind: 'won'; readonly token: bigint }
  | { readonly kind: 'raise'; readonly to: bigint };

/** More than half of all nodes, silent ones included, are a majority: any two majorities share a node. */
export const majorityOf = (nodes: number): number => Math.floor(nodes / 2) + 1;

/** The tokens of nodes whose clocks agree differ by less: a second, in microseconds. */
const FAR_APART = 1_000_000n;

/**
 * Decides as soon as no missing answer can change the outcome.
 *
 * A fenced claim wins when all nodes of one majority admit it with the same token. So tokens grow: the next majority shares a node with this
 * one, that node gives a higher token, and all nodes of the next majority have to agree on it. It is not enough to count the admissions of
 * one majority and the tokens of another: then tokens come out of order, as `test/backends/quorum/tokens.test.ts` shows.
 */
export function tally(votes: readonly Vote[], majority: number, fenced: boolean): Verdict {
  const tokens = votes.flatMap((vote) => (vote.kind === 'yes' ? [vote.token] : []));
  const open = votes.filter(({ kind }) => kind === 'open').length;
  if (tokens.length + open < majority) return { kind: 'lost' };
  if (tokens.length < majority) return { kind: 'open' };
  const agreed = fenced
    ? tokens.find((token) => tokens.filter((each) => each === token).length >= majority)
    : tokens.reduce((most, each) => (each > most ? each : most));
  if (agreed !== undefined) return { kind: 'won', token: agreed };
  tokens.sort((a, b) => (a < b ? -1 : 1));
  const to = tokens[majority - 1]!;
  // One more vote keeps a node whose clock is far ahead from giving its token to all others.
  if (open > 0 && tokens.length === majority && to - tokens[0]! > FAR_APART) return { kind: 'open' };
  return { kind: 'raise', to };
}

/**
 * Gives what the votes for a claim are worth: until when a majority keeps the claim, and how many tokens in a row every vote has at least.
 * @param token if given, only votes with this token count
 */
export function worthOf(
  answers: readonly NodeAnswer[],
  majority: number,
  token: bigint | undefined,
): { readonly until: number; readonly tokenCount: number; readonly losable: boolean } {
  const votes = answers.filter((each) => each.kind === 'yes');
  const good = token === undefined ? votes : votes.filter((each) => each.token === token);
  const until = good.map((each) => each.until).sort((a, b) => b - a)[majority - 1]!;
  const tokenCount = leastOf(good.map((each) => each.tokenCount));
  return { until, tokenCount, losable: good.some(({ lost }) => lost) };
}

/**
 * Counts the answers to a renewal; `undefined` while the result is open. A hold is good for as long as a majority of its
 * nodes keeps it, and gone when no majority can keep it any more. If no majority set the new ttl, the renewal was refused.
 */
export function tallyRenewal(answers: readonly (Renewal | 'open')[], majority: number): Renewal | undefined {
  const good = answers.filter((answer) => typeof answer === 'object');
  const refusals = good.filter(({ kept }) => kept);
  const set = good.length - refusals.length;
  const open = answers.filter((answer) => answer === 'open').length;
  const unknown = answers.filter((answer) => answer === 'unknown').length;
  if (set >= majority || (good.length >= majority && set + open < majority)) {
    const { validFor } = good.sort((a, b) => b.validFor - a.validFor)[majority - 1]!;
    return set >= majority ? { validFor } : { ...refusals[0], validFor };
  }
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
