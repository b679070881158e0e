import { asOf } from '../../src/core/index.ts';
import { tickHold } from '../../src/once/tick.ts';
import type { KeyQueueView, ListedClaim } from './claim.ts';
import { beganAt } from './history.ts';
import type { Query, Sort } from './query.ts';
import type { Group, Row, Totals, Who } from './wire.ts';

/** How many groups of one level are shown: those with the most waiters, then the most keys. */
const MAX_GROUPS = 60;

export function whoOf(claim: ListedClaim, holds: boolean, now: number): Who {
  const { granted, joined, expires } = claim;
  const from = holds ? beganAt(claim) : (joined ?? claim.firstSeen);
  const sure = holds ? granted !== undefined : joined !== undefined;
  const known = sure ? 'seen' : joined !== undefined ? 'most' : 'least';
  return {
    label: claim.label,
    as: asOf(claim),
    token: `${claim.token}`,
    for: Math.max(0, now - from),
    known,
    left: Number.isFinite(expires) ? Math.max(0, expires - now) : null,
  };
}

const waitStart = ({ waiters: [first] }: KeyQueueView): number | undefined =>
  first && (first.joined ?? first.firstSeen);

/** Whether no process holds the key: the hold only marks that a tick was run, and stays after its process has ended. */
export const isMark = (key: string): boolean => tickHold(key) === 'record';

const holdStart = ({ key, holders: [first] }: KeyQueueView): number | undefined =>
  first && !isMark(key) ? beganAt(first) : undefined;

export function rowOf(view: KeyQueueView, now: number): Row {
  const [first] = view.holders;
  const from = waitStart(view);
  return {
    key: view.key,
    holder: first ? whoOf(first, true, now) : null,
    holders: view.holders.length,
    waiting: view.waiters.length,
    wait: from === undefined ? null : Math.max(0, now - from),
    mark: isMark(view.key),
  };
}

const NEVER = Number.POSITIVE_INFINITY;
const byKey = (a: KeyQueueView, b: KeyQueueView): number => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0);
const byNumber =
  (of: (view: KeyQueueView) => number | undefined) =>
  (a: KeyQueueView, b: KeyQueueView): number => {
    const [x, y] = [of(a) ?? NEVER, of(b) ?? NEVER];
    return x === y ? 0 : x - y;
  };
const holderLabel = ({ holders: [first] }: KeyQueueView): string => first?.label ?? '\uffff';

/** The orders of the rows. The first are the longest waits, the longest holds, the least time left, or the most waiters. */
const ORDERS: Readonly<Record<Sort, (a: KeyQueueView, b: KeyQueueView) => number>> = {
  trouble: (a, b) => byNumber(waitStart)(a, b) || byNumber(holdStart)(a, b),
  key: byKey,
  holder: (a, b) => (holderLabel(a) < holderLabel(b) ? -1 : holderLabel(a) > holderLabel(b) ? 1 : 0),
  held: byNumber(holdStart),
  left: byNumber(({ holders: [first] }) => first?.expires),
  waiting: (a, b) => b.waiters.length - a.waiters.length,
};

const MATCHES: Readonly<Record<Query['show'], (view: KeyQueueView) => boolean>> = {
  all: () => true,
  contested: ({ waiters }) => waiters.length > 0,
  held: ({ holders }) => holders.length > 0,
};

function matcherOf({ q, in: prefix, show }: Query): (view: KeyQueueView) => boolean {
  const text = q.toLowerCase();
  const has = ({ label }: ListedClaim): boolean => label.toLowerCase().includes(text);
  return (view) =>
    view.key.startsWith(prefix) &&
    MATCHES[show](view) &&
    (text === '' || view.key.toLowerCase().includes(text) || view.holders.some(has) || view.waiters.some(has));
}

/** Picks the first rows in the wanted order, without sorting all views: there may be a million. */
export function select(views: Iterable<KeyQueueView>, query: Query): { first: readonly KeyQueueView[]; found: number } {
  const matches = matcherOf(query);
  const order = ORDERS[query.sort];
  const compare = (a: KeyQueueView, b: KeyQueueView): number => (query.up ? order(b, a) : order(a, b)) || byKey(a, b);
  let best: KeyQueueView[] = [];
  let last: KeyQueueView | undefined; // the last view of a full list
  let found = 0;
  for (const view of views) {
    if (!matches(view)) continue;
    found++;
    if (last && compare(view, last) >= 0) continue;
    best.push(view);
    if (best.length >= 4 * query.rows) {
      best = best.sort(compare).slice(0, query.rows);
      last = best.at(-1);
    }
  }
  return { first: best.sort(compare).slice(0, query.rows), found };
}

export function totalsOf(views: Iterable<KeyQueueView>, beyond: number, now: number): Totals {
  let [keys, holders, waiting, contested] = [beyond, beyond, 0, 0];
  let longestWait: { key: string; from: number } | undefined;
  let longestHold: { key: string; from: number } | undefined;
  for (const view of views) {
    keys++;
    if (!isMark(view.key)) holders += view.holders.length;
    waiting += view.waiters.length;
    if (view.waiters.length > 0) contested++;
    const waits = waitStart(view);
    if (waits !== undefined && waits < (longestWait?.from ?? NEVER)) longestWait = { key: view.key, from: waits };
    const holds = holdStart(view);
    if (holds !== undefined && holds < (longestHold?.from ?? NEVER)) longestHold = { key: view.key, from: holds };
  }
  const told = (one: { key: string; from: number } | undefined) => (one ? { key: one.key, for: now - one.from } : null);
  return { keys, holders, waiting, contested, beyond, longestWait: told(longestWait), longestHold: told(longestHold) };
}

/** Groups the keys with this prefix by their part up to the next `:` or `/`. Keys that have none after the prefix are in no group. */
export function groupsOf(views: Iterable<KeyQueueView>, prefix: string, now: number): Group[] {
  const groups = new Map<string, { keys: number; waiting: number; from: number }>();
  for (const view of views) {
    const { key } = view;
    if (!key.startsWith(prefix)) continue;
    const end = delimiterIn(key, prefix.length);
    if (end < 0 || end === key.length - 1) continue;
    const name = key.slice(0, end + 1);
    const group = groups.get(name) ?? { keys: 0, waiting: 0, from: NEVER };
    if (group.keys === 0) groups.set(name, group);
    group.keys++;
    group.waiting += view.waiters.length;
    group.from = Math.min(group.from, waitStart(view) ?? NEVER);
  }
  return [...groups]
    .sort(([a, x], [b, y]) => y.waiting - x.waiting || y.keys - x.keys || (a < b ? -1 : 1))
    .slice(0, MAX_GROUPS)
    .map(([prefix, { keys, waiting, from }]) => {
      return { prefix, keys, waiting, wait: from === NEVER ? null : now - from };
    });
}

function delimiterIn(key: string, from: number): number {
  const [colon, slash] = [key.indexOf(':', from), key.indexOf('/', from)];
  return colon < 0 ? slash : slash < 0 ? colon : Math.min(colon, slash);
}
