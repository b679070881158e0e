import type { Claim } from '../../core/backend.ts';
import type { NodeAnswer } from './node-answer.ts';

/**
 * What the votes for a claim come to: it is good while a majority keeps it, for as many tickets in a row as each of them gave.
 * @param ticket only votes under this number count, if one is given
 */
export function worthOf(
  said: readonly NodeAnswer[],
  majority: number,
  ticket: bigint | undefined,
): { readonly until: number; readonly span: number; readonly losable: boolean } {
  const votes = said.filter((each) => each.kind === 'yes');
  const good = ticket === undefined ? votes : votes.filter((each) => each.ticket === ticket);
  const until = good.map((each) => each.until).sort((a, b) => b - a)[majority - 1]!;
  return { until, span: Math.min(...good.map(({ span }) => span)), losable: good.some(({ lost }) => lost) };
}

/** The number that nodes are asked to take, above all that this process has seen; undefined where each may begin with its own. */
export function proposalOf({ atLeast = 0n }: Claim, highest: bigint): bigint | undefined {
  const proposal = atLeast > highest ? atLeast : highest + 1n;
  return proposal > 1n ? proposal : undefined;
}
