import type { LocalEntry, Origin, QueueEntry } from '../core/index.ts';

/** A hold, or a waiting claim. */
export interface WaitsClaim extends QueueEntry {
  /** `<process>.<claim>` of its origin; without an origin, its key and token. */
  readonly id: string;
  /** True: the claim waits in this process behind others, and is not in the engine's queue yet. Its token is 0. */
  readonly local?: true;
}

/** Claims and their queues. A key has one queue at the engine, and one of requests that wait in this process. */
export interface ClaimQueues {
  readonly claims: ReadonlyMap<string, WaitsClaim>;
  readonly queues: readonly (readonly WaitsClaim[])[];
}

/** Gives the queues of each set, with only the claims of the set. A claim is in one set at most. */
export function queuesAmong({ claims, queues }: ClaimQueues, sets: readonly Iterable<string>[]): ClaimQueues[] {
  const setOf = new Map<string, number>();
  for (const [i, ids] of sets.entries()) for (const id of ids) setOf.set(id, i);
  const parts: WaitsClaim[][][] = sets.map(() => []);
  for (const queue of queues) {
    const shares = new Map<number, WaitsClaim[]>();
    for (const claim of queue) {
      const set = setOf.get(claim.id);
      if (set === undefined) continue;
      shares.get(set)?.push(claim) ?? shares.set(set, [claim]);
    }
    for (const [set, share] of shares) parts[set]!.push(share);
  }
  return parts.map((queues) => ({ claims, queues }));
}

export function idOf({ origin, key, token }: QueueEntry): string {
  return origin ? idOfOrigin(origin) : `${key}#${token}`;
}

export const idOfOrigin = ({ process, claim }: Pick<Origin, 'process' | 'claim'>): string => `${process}.${claim}`;

/** The ids of the holds inside which a claim waits. */
export const enclosingOf = ({ origin, held }: WaitsClaim): string[] =>
  held || !origin ? [] : origin.inside.map(({ claim }) => idOfOrigin({ process: origin.process, claim }));

/**
 * Makes queues from a listing. It leaves out keys without waiters.
 * @param entries key by key, in the order of the queues, as from `inspect`
 * @param locals the holders and waiters of this process, which knows more of them than the engine does
 */
export function queuesOf(entries: Iterable<QueueEntry>, locals: readonly (readonly LocalEntry[])[] = []): ClaimQueues {
  const byKey = new Map<string, WaitsClaim[]>();
  const own = new Map(locals.flat().map((local) => [idOfOrigin(local.origin), local]));
  for (const entry of entries) {
    const id = idOf(entry);
    // For a waiter of this process, the local origin is newer: the holds around the waiter that are over by now are left out.
    const origin = (entry.held ? undefined : own.get(id)?.origin) ?? entry.origin;
    const claim = { ...entry, id, ...(origin && { origin }) };
    byKey.get(claim.key)?.push(claim) ?? byKey.set(claim.key, [claim]);
  }
  const waitedFor = new Set(locals.flatMap((queue) => (queue.some(({ queued }) => !queued) ? [queue[0]!.key] : [])));
  const engine = [...byKey].flatMap(([key, queue]) =>
    waitedFor.has(key) || queue.some(({ held }) => !held) ? [queue.sort((a, b) => a.position - b.position)] : [],
  );
  const claims = new Map(engine.flat().map((claim) => [claim.id, claim]));
  const local = locals.map((queue) => queue.flatMap((entry) => localClaim(entry, claims)));
  for (const claim of local.flat()) claims.set(claim.id, claim);
  return { claims, queues: [...engine, ...local.filter((queue) => queue.some((claim) => claim.local))] };
}

/** A local entry as a claim. Empty if the listing does not have its claim at the engine: the listing was made too early or too late. */
function localClaim({ queued, ...entry }: LocalEntry, listed: ReadonlyMap<string, WaitsClaim>): WaitsClaim[] {
  const id = idOfOrigin(entry.origin);
  const known = listed.get(id);
  if (known) return [known];
  if (queued) return [];
  const nowhere = { held: false, position: 0, token: 0n, remaining: Number.POSITIVE_INFINITY };
  return [{ ...entry, ...nowhere, id, local: true }];
}
