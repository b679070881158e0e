import { RecentKeys } from '../../src/core/index.ts';
import { tickHold } from '../../src/once/tick.ts';
import { finderOf, type KeyQueueView, type ListedClaim, MAX_GAP_MS } from './claim.ts';
import type { End, Happening } from './wire.ts';

/** A hold that is over. Times are ms by the clock of this process. */
interface Past {
  readonly label: string;
  readonly token: bigint;
  /** When the hold began, as exactly as the page knows. */
  readonly from: number;
  /** When the hold ended; if the last look was long before, when the hold was last seen. */
  readonly to: number;
  readonly end: End;
}

export interface Change {
  readonly what: Happening;
  readonly key: string;
  /** When the look that found the change was. */
  readonly at: number;
  /** The new holder; for `left`, the claim that waited. */
  readonly to?: ListedClaim;
  /** The hold that ended. */
  readonly past?: Past;
}

/** When a hold began: if no look saw the grant, when the claim joined the queue (maybe too early), or when it was first seen (maybe too late). */
export const beganAt = ({ granted, joined, firstSeen }: ListedClaim): number => granted ?? joined ?? firstSeen;

const NO_CHANGES: readonly Change[] = [];

/** The changes of a key between two looks, in the order of its queue. */
export function changesBetween(
  key: string,
  before: KeyQueueView | undefined,
  after: KeyQueueView | undefined,
  { at, evicted }: { readonly at: number; readonly evicted?: (token: bigint) => boolean },
): readonly Change[] {
  if (same(before?.holders, after?.holders) && same(before?.waiters, after?.waiters)) return NO_CHANGES;
  const holding = finderOf(after?.holders);
  const waiting = finderOf(after?.waiters);
  const heldBefore = finderOf(before?.holders);
  const over = (before?.holders ?? []).filter(({ token }) => !holding(token));
  const begun = (after?.holders ?? []).filter(({ token }) => !heldBefore(token));
  const apart = at - (before?.at ?? at);
  const mayExpire = tickHold(key) !== undefined;
  const pasts = over.map((claim) => pastOf(claim, at, apart, { evicted, mayExpire }));
  const changes: Change[] = [];
  for (let i = 0; i < Math.max(pasts.length, begun.length); i++) {
    const past = pasts[i];
    const to = begun[i];
    changes.push({ what: past && to ? 'handed' : to ? 'granted' : 'over', key, at, to, past });
  }
  for (const claim of before?.waiters ?? [])
    if (!waiting(claim.token) && !holding(claim.token)) changes.push({ what: 'left', key, at, to: claim });
  return changes;
}

const same = (a: readonly ListedClaim[] = [], b: readonly ListedClaim[] = []): boolean =>
  a.length === b.length && a.every(({ token }, i) => token === b[i]!.token);

function pastOf(
  claim: ListedClaim,
  at: number,
  apart: number,
  { evicted, mayExpire }: { evicted?: ((token: bigint) => boolean) | undefined; mayExpire: boolean },
): Past {
  const { label, token, expires } = claim;
  return { label, token, from: beganAt(claim), to: apart <= MAX_GAP_MS ? at : at - apart, end: endOf() };

  function endOf(): End {
    if (evicted?.(token)) return 'evicted';
    if (expires === Number.POSITIVE_INFINITY) return 'ended';
    if (expires > at) return 'released';
    return apart <= MAX_GAP_MS && !mayExpire ? 'expired' : 'ended';
  }
}

/** For how many keys past holds are kept: the keys that changed last, or that a page asked for last. */
const MAX_KEYS = 1_000;
/** How many holds of a key are kept. */
const MAX_HOLDS = 200;
/** How many changes of all keys are kept. */
const MAX_CHANGES = 500;
/** How many losses of all keys are kept. */
const MAX_LOSSES = 100;

/** Whether a holder lost its hold. Losses are shown longer than other changes. */
const isLoss = ({ past }: Change): boolean => past?.end === 'expired' || past?.end === 'evicted';

/** The recent past of all keys and of each key, with a limit. */
export class History {
  readonly #pasts = new RecentKeys<Past[]>(MAX_KEYS);
  #changes: Change[] = [];
  readonly #losses: Change[] = [];

  add(changes: readonly Change[]): void {
    for (const change of changes) {
      this.#changes.push(change);
      if (change.past) this.#keep(change.key, change.past);
      if (isLoss(change) && this.#losses.push(change) > MAX_LOSSES) this.#losses.shift();
    }
    if (this.#changes.length > 2 * MAX_CHANGES) this.#changes = this.#changes.slice(-MAX_CHANGES);
  }

  /** The newest changes first, of keys that begin with the prefix. */
  latest(count: number, prefix = ''): Change[] {
    return newest(this.#changes, count, prefix);
  }

  /** The newest losses first, however many other changes came after them. */
  losses(count: number, prefix = ''): Change[] {
    return newest(this.#losses, count, prefix);
  }

  /** The past holds of a key, the oldest first. */
  of(key: string): readonly Past[] {
    const pasts = this.#pasts.get(key);
    if (!pasts) return [];
    this.#pasts.set(key, pasts); // now this key is forgotten last
    return pasts;
  }

  #keep(key: string, past: Past): void {
    const pasts = this.#pasts.get(key) ?? [];
    pasts.push(past);
    if (pasts.length > MAX_HOLDS) pasts.shift();
    this.#pasts.set(key, pasts);
  }
}

function newest(changes: readonly Change[], count: number, prefix: string): Change[] {
  const found: Change[] = [];
  for (let i = changes.length - 1; i >= 0 && found.length < count; i--)
    if (changes[i]!.key.startsWith(prefix)) found.push(changes[i]!);
  return found;
}
