import { type As, asOf } from '../core/admission.ts';
import type { Standing } from '../core/traits.ts';

/** One holder or waiter, as it is kept between looks. Times are ms of the clock of this process. */
export interface Claim {
  readonly ticket: bigint;
  readonly label: string;
  readonly as: As;
  /** When it joined the line; undefined where the engine does not tell. */
  readonly joined: number | undefined;
  /** When the first look that met it was. */
  readonly met: number;
  /** When the first look was that met it as a holder, where an earlier one shows that it was none before. */
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

const NOBODY: readonly Claim[] = [];

/**
 * The line that a look has found.
 * @param before what the last look at this key found: undefined where that was nobody, or there was none
 * @param watched whether there was a look before this one, so that what is new now began since then
 */
export function lineOf(
  key: string,
  standings: readonly Standing[],
  { before, watched, at }: { readonly before: Line | undefined; readonly watched: boolean; readonly at: number },
): Line {
  const known = new Map(before && [...before.holders, ...before.waiters].map((claim) => [claim.ticket, claim]));
  const held = new Set(before?.holders.map(({ ticket }) => ticket));
  const claims = (holding: boolean): readonly Claim[] => {
    const found = standings.filter((standing) => standing.held === holding);
    if (found.length === 0) return NOBODY;
    return found.map((standing) => {
      const { ticket, label, since, remaining } = standing;
      const same = known.get(ticket);
      const isNew = holding && watched && !held.has(ticket);
      return {
        ticket,
        label: same?.label ?? label,
        as: same?.as ?? asOf(standing),
        joined: same?.joined ?? (since === undefined ? undefined : Math.round(at - since)),
        met: same?.met ?? at,
        granted: isNew ? at : same?.granted,
        lapses: Math.round(at + remaining),
      };
    });
  };
  return { key, holders: claims(true), waiters: claims(false), at };
}
