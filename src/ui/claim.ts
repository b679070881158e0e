import type { Origin } from '../core/origin.ts';
import type { Standing } from '../core/traits.ts';

/** One holder or waiter, as it is kept between looks. Times are ms of the clock of this process. */
export interface Claim {
  readonly ticket: bigint;
  readonly label: string;
  readonly take: number;
  readonly of: number;
  /** Whose it is; kept only in a line in which somebody waits. */
  readonly origin: Origin | undefined;
  /** When it joined the line; undefined where the engine does not tell. */
  readonly joined: number | undefined;
  /** When the first look that met it was. */
  readonly met: number;
  /** When the first look was that met it as a holder, where one a moment before shows that it was none then. */
  readonly granted: number | undefined;
  /** When it lapses unless renewed; Infinity where a session carries it. */
  readonly lapses: number;
}

/** The line of one key. */
export interface Line {
  readonly key: string;
  readonly holders: readonly Claim[];
  readonly waiters: readonly Claim[];
  /** When it was looked at. */
  readonly at: number;
}

/** Of what happened between two looks that were farther apart than this nobody can say when it did. ms. */
export const CLOSE = 10_000;

const NOBODY: readonly Claim[] = [];
/** Up to so many a list is searched as it is. */
const FEW = 8;
/** Labels that are kept once for all who have them: of a hundred thousand locks most are of a few processes. */
const LABELS = 10_000;
const labels = new Map<string, string>();

function kept(label: string): string {
  const known = labels.get(label);
  if (known !== undefined) return known;
  if (labels.size >= LABELS) labels.clear();
  labels.set(label, label);
  return label;
}

/** Finds a claim by its ticket. */
export function finderOf(claims: readonly Claim[] = NOBODY): (ticket: bigint) => Claim | undefined {
  if (claims.length <= FEW) return (ticket) => claims.find((claim) => claim.ticket === ticket);
  const known = new Map(claims.map((claim) => [claim.ticket, claim]));
  return (ticket) => known.get(ticket);
}

/**
 * The line that a look has found.
 * @param before what the last look at this key found: undefined where that was nobody, or there was none
 * @param last when that was, so that what is new now began since then
 */
export function lineOf(
  key: string,
  standings: readonly Standing[],
  { before, last, at }: { readonly before: Line | undefined; readonly last: number | undefined; readonly at: number },
): Line {
  const heldBefore = finderOf(before?.holders);
  const waitedBefore = finderOf(before?.waiters);
  const contested = standings.some(({ held }) => !held);
  const close = last !== undefined && at - last <= CLOSE;
  const claimOf = (standing: Standing): Claim => {
    const { ticket, label, since, remaining, held } = standing;
    const holder = heldBefore(ticket);
    const same = holder ?? waitedBefore(ticket);
    return {
      ticket,
      label: same?.label ?? kept(label),
      take: standing.take,
      of: standing.of,
      origin: contested ? standing.origin : undefined,
      joined: same ? same.joined : since === undefined ? undefined : Math.round(at - since),
      met: same?.met ?? at,
      granted: held && !holder && close ? at : same?.granted,
      lapses: Math.round(at + remaining),
    };
  };
  const claims = (holding: boolean): readonly Claim[] => {
    const found = standings.filter(({ held }) => held === holding);
    return found.length === 0 ? NOBODY : found.map(claimOf);
  };
  return { key, holders: claims(true), waiters: claims(false), at };
}
