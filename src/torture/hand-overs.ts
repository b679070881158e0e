import { leastOf, mostOf } from '../core/contract/extremes.ts';
import { byKey, type Ledger, type Wish } from './ledger.ts';
import type { Conditions, Violation } from './violation.ts';

/** A key that became free while a claim waited and no fault was active. */
export interface HandOver {
  readonly key: string;
  /** When it became free. */
  readonly at: number;
  /** How long it took until the next claim held it, ms. */
  readonly ms: number;
}

/**
 * How late a hand-over may be, beside the round trips, ms. A wake-up takes a few ms. A waiter without one asks again after a
 * third of the lease, and after 2 s at most.
 */
const LATE = 250;
/** Round trips that a hand-over may take: the release, the wake-up, an attempt, and as many again. */
const WAYS = 6;
/** The time of one poll, and as much again for a busy machine, ms. */
export const STARVED = 4_000;
/** More late hand-overs than this number, and than this part of all, are no accident of a busy machine. */
const LATE_COUNT = 5;
const LATE_PART = 0.15;
/** How long a wish may take to join the line, beside two round trips, ms. */
const JOIN = 10;
/** How long after a disturbance, beside the lease, connections come back and holds lapse that were not renewed yet, ms. */
const RECOVERY = 3_500;
/** The same after a slow look of the referee itself, ms. */
const HICCUP = 1_000;

/** How long the effects of a fault last: the lease of a dead holder, the place of a dead waiter, a connection that comes back. */
export const settling = (ttl: number): number => ttl + RECOVERY;

/** How free keys found their next holder without any fault, and where that took too long. */
export function handOvers(
  ledger: Ledger,
  { ttl, wakes, way }: Conditions,
): { violations: Violation[]; calm: HandOver[] } {
  const times = calmTimes(ledger, ttl);
  const violations: Violation[] = [];
  const calm: HandOver[] = [];
  for (const { key, free, next, handed } of gaps(ledger, JOIN + 2 * way)) {
    for (const [start, end] of times) {
      const [begin, over] = [Math.max(free, start), Math.min(next, end)];
      if (over - begin > STARVED) violations.push(starved(key, begin, over));
      else if (handed && free >= start && next <= end) calm.push({ key, at: free, ms: next - free });
    }
  }
  const limit = LATE + WAYS * way;
  const late = calm.filter(({ ms }) => ms > limit);
  if (wakes && late.length >= LATE_COUNT && late.length > calm.length * LATE_PART) {
    const longest = mostOf(late.map(({ ms }) => ms));
    violations.push({
      ...{ broken: 'wake-ups', at: late[0]!.at, ops: [] },
      message: `without a fault, ${late.length} of ${calm.length} free keys got their next holder after more than ${limit.toFixed(0)} ms, the last after ${longest.toFixed(0)} ms: waiters were not woken`,
    });
  }
  return { violations, calm };
}

const starved = (key: string, begin: number, end: number): Violation => ({
  ...{ broken: 'starvation', key, at: begin, ops: [] },
  message: `from ${begin.toFixed(0)} ms on, ${key} was free, somebody waited and the engine answered, but nobody got the key for ${(end - begin).toFixed(0)} ms`,
});

/** The times without a fault, and without an effect of one. */
function calmTimes({ disturbances, now }: Ledger, ttl: number): [number, number][] {
  const calm: [number, number][] = [];
  let from = 0;
  for (const { at, until, kind } of [...disturbances.values()].toSorted((a, b) => a.at - b.at)) {
    if (at > from) calm.push([from, at]);
    const own = kind === 'no answer' || kind === 'slow machine';
    from = Math.max(from, until + (own ? HICCUP : settling(ttl)));
  }
  if (now > from) calm.push([from, now]);
  return calm;
}

interface Gap {
  readonly key: string;
  /** Since when the key was free, and a claim waited. */
  readonly free: number;
  /** When a claim held it next, or now. */
  readonly next: number;
  /** The claim waited before the key was free, so this is a hand-over. */
  readonly handed: boolean;
}

/** The times in which nobody held a key, and the same claim waited all along. */
function* gaps({ wishes, now, since }: Ledger, join: number): Generator<Gap> {
  for (const [key, all] of byKey(wishes.values())) {
    const holds = all.flatMap(({ hold }) => hold ?? []).toSorted((a, b) => a.from - b.from);
    const asked = all.toSorted((a, b) => a.asked - b.asked);
    const waiting = new Set<Wish>();
    let free = since;
    let later = 0;
    for (const [index, next] of [...holds.map(({ from }) => from), now].entries()) {
      for (; asked[later] && asked[later]!.asked < next; later++) waiting.add(asked[later]!);
      for (const wish of waiting) if ((wish.hold?.from ?? wish.ended ?? now) < next) waiting.delete(wish);
      if (next > free && waiting.size > 0) {
        const joined = leastOf([...waiting].map((wish) => wish.asked)) + join;
        if (joined < next)
          yield { key, free: Math.max(free, joined), next, handed: joined <= free && index < holds.length };
      }
      const hold = holds[index];
      if (hold) free = Math.max(free, hold.over ? (hold.freed ?? hold.until) : now);
    }
  }
}
