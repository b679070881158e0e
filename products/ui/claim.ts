import type { Origin, QueueEntry } from '../../src/core/index.ts';

/** One holder or waiter, as the page keeps it between looks. Times are ms by the clock of this process. */
export interface ListedClaim {
  readonly token: bigint;
  readonly label: string;
  readonly units: number;
  readonly capacity: number;
  /** Its process and claim; kept only where claims wait. */
  readonly origin: Origin | undefined;
  /** When the claim joined the queue; undefined if the engine does not say. */
  readonly joined: number | undefined;
  /** When a look first found it. */
  readonly firstSeen: number;
  /** When a look first found the claim as a holder; undefined unless a look shortly before found that it was none. */
  readonly granted: number | undefined;
  /** When the claim expires unless renewed, by the last look; Infinity if a session keeps the claim. */
  expires: number;
}

/** The process of a claim. Other programs do not name it; labels mostly distinguish processes. */
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

/** If two looks are farther apart, nobody can say when a change between them happened. ms. */
export const MAX_GAP_MS = 10_000;

const NO_CLAIMS: readonly ListedClaim[] = [];
/** Lists of up to this length are searched without an index. */
const MAX_UNINDEXED = 8;
/** How many labels are shared: most of a hundred thousand locks belong to a few processes. */
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

/** Copies the text: a part of an answer would keep the whole answer in memory. */
const ownOf = (text: string): string => Buffer.from(text).toString();

export function finderOf(claims: readonly ListedClaim[] = NO_CLAIMS): (token: bigint) => ListedClaim | undefined {
  if (claims.length <= MAX_UNINDEXED) return (token) => claims.find((claim) => claim.token === token);
  const known = new Map(claims.map((claim) => [claim.token, claim]));
  return (token) => known.get(token);
}

/**
 * Updates a view after a look that found the same claims. Most looks do, so they make no new objects for a hundred thousand keys.
 * @returns whether the claims were the same; if not, it changed nothing
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

/** The facts of a look at a key, beside what it found. */
interface Found {
  /** What the last look found; undefined if it found no claim, or there was no look. */
  readonly before: KeyQueueView | undefined;
  /** When the last look was. What this look finds for the first time began after the last one. */
  readonly last: number | undefined;
  readonly at: number;
  readonly pass: number;
}

/** Makes the view of what a look has found. */
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
