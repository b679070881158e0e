import { CLOSE, type Claim, finderOf, type Line } from './claim.ts';
import type { End, Happening } from './happening.ts';

/** A hold that is over. Times are ms of the clock of this process. */
export interface Past {
  readonly label: string;
  readonly ticket: bigint;
  /** When it began, as far as anybody can say. */
  readonly from: number;
  /** When it was over; where nobody looked for long, when it was seen last. */
  readonly to: number;
  readonly end: End;
}

/** What two looks at a key show to have happened between them. */
export interface Change {
  readonly what: Happening;
  readonly key: string;
  /** When the look was that shows it. */
  readonly at: number;
  /** Who has it now; of `left`, who waited. */
  readonly to?: Claim;
  /** Whose hold ended. */
  readonly past?: Past;
}

/** When a hold began: seen; else no earlier than it joined the line; else no later than it was met. */
export const beganAt = ({ granted, joined, met }: Claim): number => granted ?? joined ?? met;

const NOTHING: readonly Change[] = [];

/** What happened to a key between two looks, in the order of its line. */
export function changesBetween(
  key: string,
  before: Line | undefined,
  after: Line | undefined,
  { at, evicted }: { readonly at: number; readonly evicted?: (ticket: bigint) => boolean },
): readonly Change[] {
  if (same(before?.holders, after?.holders) && same(before?.waiters, after?.waiters)) return NOTHING;
  const holding = finderOf(after?.holders);
  const waiting = finderOf(after?.waiters);
  const heldBefore = finderOf(before?.holders);
  const over = (before?.holders ?? []).filter(({ ticket }) => !holding(ticket));
  const begun = (after?.holders ?? []).filter(({ ticket }) => !heldBefore(ticket));
  const apart = at - (before?.at ?? at);
  const pasts = over.map((claim) => pastOf(claim, { at, apart, evicted }));
  const changes: Change[] = [];
  for (let i = 0; i < Math.max(pasts.length, begun.length); i++) {
    const past = pasts[i];
    const to = begun[i];
    changes.push({ what: past && to ? 'handed' : to ? 'granted' : 'over', key, at, to, past });
  }
  for (const claim of before?.waiters ?? [])
    if (!waiting(claim.ticket) && !holding(claim.ticket)) changes.push({ what: 'left', key, at, to: claim });
  return changes;
}

const same = (a: readonly Claim[] = [], b: readonly Claim[] = []): boolean =>
  a.length === b.length && a.every(({ ticket }, i) => ticket === b[i]!.ticket);

function pastOf(
  claim: Claim,
  {
    at,
    apart,
    evicted,
  }: { readonly at: number; readonly apart: number; readonly evicted?: (ticket: bigint) => boolean },
): Past {
  const { label, ticket, lapses } = claim;
  return { label, ticket, from: beganAt(claim), to: apart <= CLOSE ? at : at - apart, end: endOf() };

  function endOf(): End {
    if (evicted?.(ticket)) return 'evicted';
    if (lapses === Number.POSITIVE_INFINITY) return 'ended';
    if (lapses > at) return 'released';
    return apart <= CLOSE ? 'lapsed' : 'ended';
  }
}
