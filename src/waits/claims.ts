import type { LocalEntry, Origin, QueueEntry } from '../core/index.ts';

/** A hold, or a waiting claim. */
export interface WaitsClaim extends QueueEntry {
  /** `<process>.<claim>` of its origin; without an origin, its key and token. */
  readonly id: string;
  /** It waits in this process behind others, and is not in the engine's line yet: its token is 0. */
  readonly local?: true;
}

/** Claims and their lines: a key has one line at the engine, and one in this process. */
export interface Lines {
  readonly claims: ReadonlyMap<string, WaitsClaim>;
  readonly lines: readonly (readonly WaitsClaim[])[];
}

/** The lines of several sets of claims, each without all other claims. A claim is in one set at most. */
export function linesAmong({ claims, lines }: Lines, sets: readonly Iterable<string>[]): Lines[] {
  const setOf = new Map<string, number>();
  for (const [i, ids] of sets.entries()) for (const id of ids) setOf.set(id, i);
  const parts: WaitsClaim[][][] = sets.map(() => []);
  for (const line of lines) {
    const shares = new Map<number, WaitsClaim[]>();
    for (const claim of line) {
      const set = setOf.get(claim.id);
      if (set === undefined) continue;
      shares.get(set)?.push(claim) ?? shares.set(set, [claim]);
    }
    for (const [set, share] of shares) parts[set]!.push(share);
  }
  return parts.map((lines) => ({ claims, lines }));
}

export function idOf({ origin, key, token }: QueueEntry): string {
  return origin ? idOfOrigin(origin) : `${key}#${token}`;
}

export const idOfOrigin = ({ process, claim }: Pick<Origin, 'process' | 'claim'>): string => `${process}.${claim}`;

/** The ids of the holds inside which it waits. */
export const enclosingOf = ({ origin, held }: WaitsClaim): string[] =>
  held || !origin ? [] : origin.inside.map(({ claim }) => idOfOrigin({ process: origin.process, claim }));

/**
 * Leaves out keys without waiters: nobody waits for their holders.
 * @param standings key by key, in the order of the lines, as from `inspect`
 * @param locals the waiters of this process, which knows more of them than an engine does
 */
export function linesOf(standings: Iterable<QueueEntry>, locals: readonly (readonly LocalEntry[])[] = []): Lines {
  const byKey = new Map<string, WaitsClaim[]>();
  const own = new Map(locals.flat().map((local) => [idOfOrigin(local.origin), local]));
  for (const standing of standings) {
    const id = idOf(standing);
    // A hold around it may be over by now.
    const origin = (standing.held ? undefined : own.get(id)?.origin) ?? standing.origin;
    const claim = { ...standing, id, ...(origin && { origin }) };
    byKey.get(claim.key)?.push(claim) ?? byKey.set(claim.key, [claim]);
  }
  const waitedFor = new Set(locals.flatMap((line) => (line.some(({ queued }) => !queued) ? [line[0]!.key] : [])));
  const engine = [...byKey].flatMap(([key, line]) =>
    waitedFor.has(key) || line.some(({ held }) => !held) ? [line.sort((a, b) => a.position - b.position)] : [],
  );
  const claims = new Map(engine.flat().map((claim) => [claim.id, claim]));
  const local = locals.map((line) => line.flatMap((standing) => localClaim(standing, claims)));
  for (const claim of local.flat()) claims.set(claim.id, claim);
  return { claims, lines: [...engine, ...local.filter((line) => line.some((claim) => claim.local))] };
}

/** Nothing if the listing was made before or after the claim was in the engine's line. */
function localClaim({ queued, ...standing }: LocalEntry, listed: ReadonlyMap<string, WaitsClaim>): WaitsClaim[] {
  const id = idOfOrigin(standing.origin);
  const known = listed.get(id);
  if (known) return [known];
  if (queued) return [];
  const nowhere = { held: false, position: 0, token: 0n, remaining: Number.POSITIVE_INFINITY };
  return [{ ...standing, ...nowhere, id, local: true }];
}
