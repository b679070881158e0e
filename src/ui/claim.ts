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
  /** When it lapses unless renewed, by the last look; Infinity where a session carries it. */
  lapses: number;
}

/** Whose a claim is. Older versions and others do not say; their labels mostly tell processes apart. */
export const processOf = ({ origin, label }: Pick<Standing, 'origin' | 'label'>): string =>
  `${origin?.process ?? ''} ${label}`;

/** The line of one key. */
export interface Line {
  readonly key: string;
  readonly holders: readonly Claim[];
  readonly waiters: readonly Claim[];
  /** When it was looked at last. */
  at: number;
  /** Of the look at all keys that met it last. */
  pass: number;
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
  const own = ownOf(label);
  labels.set(own, own);
  return own;
}

/** The same text on its own: a part of an answer would keep the whole answer. */
const ownOf = (text: string): string => Buffer.from(text).toString();

/** Finds a claim by its ticket. */
export function finderOf(claims: readonly Claim[] = NOBODY): (ticket: bigint) => Claim | undefined {
  if (claims.length <= FEW) return (ticket) => claims.find((claim) => claim.ticket === ticket);
  const known = new Map(claims.map((claim) => [claim.ticket, claim]));
  return (ticket) => known.get(ticket);
}

/**
 * Moves a line on to a look that has found the same claims in it, as most looks do: of a hundred thousand lines nothing is made anew.
 * @returns whether it has; if not, nothing was changed
 */
export function moveOn(line: Line, standings: readonly Standing[], at: number): boolean {
  const { holders, waiters } = line;
  const claimAt = (i: number): Claim | undefined => (i < holders.length ? holders[i] : waiters[i - holders.length]);
  if (standings.length !== holders.length + waiters.length) return false;
  for (const [i, { ticket, held }] of standings.entries())
    if (claimAt(i)!.ticket !== ticket || held !== i < holders.length) return false;
  for (const [i, { remaining }] of standings.entries()) claimAt(i)!.lapses = Math.round(at + remaining);
  line.at = at;
  return true;
}

/** What there is to know of a look at a key, beside what it found. */
interface Found {
  /** What the last one found: undefined where that was nobody, or there was none. */
  readonly before: Line | undefined;
  /** When that was, so that what is new now began since then. */
  readonly last: number | undefined;
  readonly at: number;
  readonly pass: number;
}

/** The line that a look has found. */
export function lineOf(key: string, standings: readonly Standing[], { before, last, at, pass }: Found): Line {
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
  return { key: before?.key ?? ownOf(key), holders: claims(true), waiters: claims(false), at, pass };
}
