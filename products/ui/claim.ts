import type { Origin, QueueEntry } from '../../src/core/index.ts';

/** One holder or waiter, as the page keeps it between looks. Times are ms by the clock of this process. */
export interface ListedClaim {
  readonly token: bigint;
  readonly label: string;
  readonly units: number;
  readonly capacity: number;
  /** The process and claim; kept only while claims wait for the key. */
  readonly origin: Origin | undefined;
  /** When the claim joined the queue; undefined if the engine does not say. */
  readonly joined: number | undefined;
  /** When a look first found the claim. */
  readonly firstSeen: number;
  /** When a look first found the claim as a holder, if a look shortly before did not; otherwise undefined. */
  readonly granted: number | undefined;
  /** When the claim expires if nobody renews it, as the last look found; Infinity if a session keeps the claim. */
  expires: number;
}

/** A name for the process of a claim. Claims of other programs have no `origin`, but mostly their labels differ. */
export const processOf = ({ origin, label }: Pick<QueueEntry, 'origin' | 'label'>): string =>
  `${origin?.process ?? ''} ${label}`;

/** The queue of one key, as the page keeps it between looks. */
export interface KeyQueueView {
  readonly key: string;
  readonly holders: readonly ListedClaim[];
  readonly waiters: readonly ListedClaim[];
  /** When the last look at the key was. */
  at: number;
  /** The number of the last look at all keys that found the key. */
  pass: number;
}

/** If two looks are farther apart than this, ms, the time of a change between them counts as unknown. */
export const MAX_GAP_MS = 10_000;

const NO_CLAIMS: readonly ListedClaim[] = [];
/** Lists of up to this length are searched without an index. */
const MAX_UNINDEXED = 8;
/** How many label texts are shared between claims: a hundred thousand locks mostly belong to a few processes. */
const MAX_LABELS = 10_000;
const labels = new Map<string, string>();

function shortLabel(label: string): string {
  const known = labels.get(label);
  if (known !== undefined) return known;
  if (labels.size >= MAX_LABELS) labels.clear();
  const own = ownOf(label);
  labels.set(own, own);
  return own;
}

/** Copies a text, because a part of an answer would keep the whole answer in memory. */
const ownOf = (text: string): string => Buffer.from(text).toString();

export function finderOf(claims: readonly ListedClaim[] = NO_CLAIMS): (token: bigint) => ListedClaim | undefined {
  if (claims.length <= MAX_UNINDEXED) return (token) => claims.find((claim) => claim.token === token);
  const known = new Map(claims.map((claim) => [claim.token, claim]));
  return (token) => known.get(token);
}

/**
 * Updates a view after a look that found the same claims. Most looks do so, and then need no new objects for a hundred thousand keys.
 * @returns whether the claims were the same; if not, nothing was changed
 */
export function updateView(view: KeyQueueView, entries: readonly QueueEntry[], at: number): boolean {
  const { holders, waiters } = view;
  const claimAt = (i: number): ListedClaim | undefined =>
    i < holders.length ? holders[i] : waiters[i - holders.length];
  if (entries.length !== holders.length + waiters.length) return false;
  for (const [i, { token, held }] of entries.entries())
    if (claimAt(i)!.token !== token || held !== i < holders.length) return false;
  for (const [i, { remaining }] of entries.entries()) claimAt(i)!.expires = Math.round(at + remaining);
  view.at = at;
  return true;
}

/** The circumstances of a look at a key. */
interface Found {
  /** What the last look found; undefined if that look found no claim, or there was no look. */
  readonly before: KeyQueueView | undefined;
  /** When the last look was. A claim or hold that is new in this look began after the last one. */
  readonly last: number | undefined;
  readonly at: number;
  readonly pass: number;
}

/** Makes a view of the entries that a look has found. */
export function viewFrom(key: string, entries: readonly QueueEntry[], { before, last, at, pass }: Found): KeyQueueView {
  const heldBefore = finderOf(before?.holders);
  const waitedBefore = finderOf(before?.waiters);
  const contested = entries.some(({ held }) => !held);
  const close = last !== undefined && at - last <= MAX_GAP_MS;
  const claimOf = (entry: QueueEntry): ListedClaim => {
    const { token, label, since, remaining, held } = entry;
    const holder = heldBefore(token);
    const same = holder ?? waitedBefore(token);
    return {
      token,
      label: same?.label ?? shortLabel(label),
      units: entry.units,
      capacity: entry.capacity,
      origin: contested ? entry.origin : undefined,
      joined: same ? same.joined : since === undefined ? undefined : Math.round(at - since),
      firstSeen: same?.firstSeen ?? at,
      granted: held && !holder && close ? at : same?.granted,
      expires: Math.round(at + remaining),
    };
  };
  const claims = (holding: boolean): readonly ListedClaim[] => {
    const found = entries.filter(({ held }) => held === holding);
    return found.length === 0 ? NO_CLAIMS : found.map(claimOf);
  };
  return { key: before?.key ?? ownOf(key), holders: claims(true), waiters: claims(false), at, pass };
}
