import { asOf } from '../../src/core/index.ts';
import { tickHold } from '../../src/once/tick.ts';
import type { KeyLine, ListedClaim } from './claim.ts';
import { beganAt } from './history.ts';
import type { Query, Sort } from './query.ts';
import type { Group, Row, Totals, Who } from './wire.ts';

/** How many groups of one level are shown: those with the most keys. */
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

const waitStart = ({ waiters: [first] }: KeyLine): number | undefined => first && (first.joined ?? first.firstSeen);

/** Whether its hold is nobody's: it remembers that a tick was run, also when its process has ended. */
export const isMark = (key: string): boolean => tickHold(key) === 'record';

const holdStart = ({ key, holders: [first] }: KeyLine): number | undefined =>
  first && !isMark(key) ? beganAt(first) : undefined;

export function rowOf(line: KeyLine, now: number): Row {
  const [first] = line.holders;
  const from = waitStart(line);
  return {
    key: line.key,
    holder: first ? whoOf(first, true, now) : null,
    holders: line.holders.length,
    waiting: line.waiters.length,
    wait: from === undefined ? null : Math.max(0, now - from),
    mark: isMark(line.key),
  };
}

const NEVER = Number.POSITIVE_INFINITY;
const byKey = (a: KeyLine, b: KeyLine): number => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0);
const byNumber =
  (of: (line: KeyLine) => number | undefined) =>
  (a: KeyLine, b: KeyLine): number => {
    const [x, y] = [of(a) ?? NEVER, of(b) ?? NEVER];
    return x === y ? 0 : x - y;
  };
const holderLabel = ({ holders: [first] }: KeyLine): string => first?.label ?? '\uffff';

/** What stands first in each order: the longest waits, the longest holds, the least time left, the most waiters. */
const ORDERS: Readonly<Record<Sort, (a: KeyLine, b: KeyLine) => number>> = {
  trouble: (a, b) => byNumber(waitStart)(a, b) || byNumber(holdStart)(a, b),
  key: byKey,
  holder: (a, b) => (holderLabel(a) < holderLabel(b) ? -1 : holderLabel(a) > holderLabel(b) ? 1 : 0),
  held: byNumber(holdStart),
  left: byNumber(({ holders: [first] }) => first?.expires),
  waiting: (a, b) => b.waiters.length - a.waiters.length,
};

const MATCHES: Readonly<Record<Query['show'], (line: KeyLine) => boolean>> = {
  all: () => true,
  contested: ({ waiters }) => waiters.length > 0,
  held: ({ holders }) => holders.length > 0,
};

function matcherOf({ q, in: prefix, show }: Query): (line: KeyLine) => boolean {
  const text = q.toLowerCase();
  const has = ({ label }: ListedClaim): boolean => label.toLowerCase().includes(text);
  return (line) =>
    line.key.startsWith(prefix) &&
    MATCHES[show](line) &&
    (text === '' || line.key.toLowerCase().includes(text) || line.holders.some(has) || line.waiters.some(has));
}

/** Picks the first rows in the wanted order. It does not sort all lines: there may be a million. */
export function select(lines: Iterable<KeyLine>, query: Query): { first: readonly KeyLine[]; found: number } {
  const matches = matcherOf(query);
  const order = ORDERS[query.sort];
  const compare = (a: KeyLine, b: KeyLine): number => (query.up ? order(b, a) : order(a, b)) || byKey(a, b);
  let best: KeyLine[] = [];
  let last: KeyLine | undefined; // the last of a full list
  let found = 0;
  for (const line of lines) {
    if (!matches(line)) continue;
    found++;
    if (last && compare(line, last) >= 0) continue;
    best.push(line);
    if (best.length >= 4 * query.rows) {
      best = best.sort(compare).slice(0, query.rows);
      last = best.at(-1);
    }
  }
  return { first: best.sort(compare).slice(0, query.rows), found };
}

export function totalsOf(lines: Iterable<KeyLine>, beyond: number, now: number): Totals {
  let [keys, holders, waiting, contested] = [beyond, beyond, 0, 0];
  let longestWait: { key: string; from: number } | undefined;
  let longestHold: { key: string; from: number } | undefined;
  for (const line of lines) {
    keys++;
    if (!isMark(line.key)) holders += line.holders.length;
    waiting += line.waiters.length;
    if (line.waiters.length > 0) contested++;
    const waits = waitStart(line);
    if (waits !== undefined && waits < (longestWait?.from ?? NEVER)) longestWait = { key: line.key, from: waits };
    const holds = holdStart(line);
    if (holds !== undefined && holds < (longestHold?.from ?? NEVER)) longestHold = { key: line.key, from: holds };
  }
  const told = (one: { key: string; from: number } | undefined) => (one ? { key: one.key, for: now - one.from } : null);
  return { keys, holders, waiting, contested, beyond, longestWait: told(longestWait), longestHold: told(longestHold) };
}

/** Groups the keys that begin with a prefix by their part up to the next `:` or `/`. Keys without either are in no group. */
export function groupsOf(lines: Iterable<KeyLine>, prefix: string, now: number): Group[] {
  const groups = new Map<string, { keys: number; waiting: number; from: number }>();
  for (const line of lines) {
    const { key } = line;
    if (!key.startsWith(prefix)) continue;
    const end = delimiterIn(key, prefix.length);
    if (end < 0 || end === key.length - 1) continue;
    const name = key.slice(0, end + 1);
    const group = groups.get(name) ?? { keys: 0, waiting: 0, from: NEVER };
    if (group.keys === 0) groups.set(name, group);
    group.keys++;
    group.waiting += line.waiters.length;
    group.from = Math.min(group.from, waitStart(line) ?? NEVER);
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
