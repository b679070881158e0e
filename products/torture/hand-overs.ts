import { counted, leastOf, mostOf } from '../../src/core/index.ts';
import { byKey, type History, type Operation } from './history.ts';
import type { Conditions, Violation } from './verdict.ts';

/** A key that became free while a claim waited and no fault was active. */
export interface HandOver {
  readonly key: string;
  /** When the key became free, ms since the start. */
  readonly at: number;
  /** How long it took until the next claim held it, ms. */
  readonly ms: number;
}

/**
 * How long a hand-over may take, in addition to the round trips. A wake-up takes a few ms. A waiter without a wake-up asks
 * again after a third of the lease, and after 2 s at most.
 */
const MAX_HAND_OVER_MS = 250;
/** Round trips that a hand-over may take: the release, the wake-up, an attempt, and as many again. */
const ROUND_TRIPS = 6;
/**
 * A hand-over may take longer by this many times the longest delay of a timer or an answer at that time, because several of
 * its steps may each be so late. So a busy machine does not look like an engine that does not notify.
 */
const LATE_STEPS = 3;
/** Time between two looks at how late the machine and the engine are. */
export const LATENESS_INTERVAL_MS = 1_000;
/** A key that is free for longer than this, while a claim waits, is starved: two polls fit into this time. */
const STARVATION_MS = 4_000;
/** If so many hand-overs are late, and more than this part of all, this is no accident of a busy machine. */
const MAX_LATE_HAND_OVERS = 5;
const MAX_LATE_HAND_OVERS_PART = 0.15;
/** How long an operation may take to join the queue, in addition to two round trips. */
const JOIN_MS = 10;
/** How long the effects of a fault last, in addition to the lease: connections come back, and holds expire. */
const RECOVERY_MS = 3_500;
/** How long the effects last when only the referee itself got a slow answer. */
const SLOW_LOOK_MS = 1_000;

/** How long the effects of a fault last, ms: dead holders and waiters expire, and connections come back. */
export const settleTime = (ttl: number): number => ttl + RECOVERY_MS;

/** Finds the hand-overs without a fault (`quiet`), and which of them took too long. */
export function handOvers(
  history: History,
  { ttl, wakes, roundTrip }: Conditions,
): { violations: Violation[]; quiet: HandOver[] } {
  const times = quietTimes(history, ttl);
  const isLate = (each: HandOver, limit: number): boolean =>
    each.ms > limit && each.ms > limit + LATE_STEPS * latenessAt(each, history);
  const violations: Violation[] = [];
  const quiet: HandOver[] = [];
  for (const { key, free, next, isHandOver } of gaps(history, JOIN_MS + 2 * roundTrip)) {
    for (const [start, end] of times) {
      const [begin, over] = [Math.max(free, start), Math.min(next, end)];
      if (isLate({ key, at: begin, ms: over - begin }, STARVATION_MS)) violations.push(starvation(key, begin, over));
      else if (isHandOver && free >= start && next <= end) quiet.push({ key, at: free, ms: next - free });
    }
  }
  const limit = MAX_HAND_OVER_MS + ROUND_TRIPS * roundTrip;
  const late = quiet.filter((each) => isLate(each, limit));
  if (wakes && late.length >= MAX_LATE_HAND_OVERS && late.length > quiet.length * MAX_LATE_HAND_OVERS_PART) {
    const longest = mostOf(late.map(({ ms }) => ms));
    violations.push({
      ...{ broken: 'wake-ups', at: late[0]!.at, ops: [] },
      message: `without a fault, ${late.length} of ${counted(quiet.length, 'free key')} got the next holder after more than ${limit.toFixed(0)} ms, the last after ${longest.toFixed(0)} ms: waiters were not woken`,
    });
  }
  return { violations, quiet };
}

/** The longest time by which a timer or an answer was late during a hand-over, or shortly before or after it, ms. */
const latenessAt = ({ at, ms }: HandOver, { late }: History): number =>
  mostOf(
    late.flatMap((each) => {
      const isNear = each.at > at - LATENESS_INTERVAL_MS && each.at - each.ms < at + ms + LATENESS_INTERVAL_MS;
      return isNear ? each.ms : [];
    }),
    0,
  );

const starvation = (key: string, begin: number, end: number): Violation => ({
  ...{ broken: 'starvation', key, at: begin, ops: [] },
  message: `from ${begin.toFixed(0)} ms on, ${key} was free, somebody waited and the engine answered, but nobody got the key for ${(end - begin).toFixed(0)} ms`,
});

/** The times without a fault and without effects of faults. */
function quietTimes({ disturbances, now }: History, ttl: number): [number, number][] {
  const quiet: [number, number][] = [];
  let from = 0;
  for (const { at, until, kind } of [...disturbances.values()].toSorted((a, b) => a.at - b.at)) {
    if (at > from) quiet.push([from, at]);
    const own = kind === 'no answer' || kind === 'slow machine';
    from = Math.max(from, until + (own ? SLOW_LOOK_MS : settleTime(ttl)));
  }
  if (now > from) quiet.push([from, now]);
  return quiet;
}

interface Gap {
  readonly key: string;
  /** Since when the key was free, and a claim waited. */
  readonly free: number;
  /** When a claim held the key next; if none did, the time of the last event. */
  readonly next: number;
  /** Whether the claim waited before the key was free, and the key got a next holder. */
  readonly isHandOver: boolean;
}

/** The times in which nobody held a key, and the same claim waited all along. */
function* gaps({ operations, now, since }: History, join: number): Generator<Gap> {
  for (const [key, all] of byKey(operations.values())) {
    const holds = all.flatMap(({ hold }) => hold ?? []).toSorted((a, b) => a.from - b.from);
    const asked = all.toSorted((a, b) => a.asked - b.asked);
    const waiting = new Set<Operation>();
    let free = since;
    let later = 0;
    for (const [index, next] of [...holds.map(({ from }) => from), now].entries()) {
      for (; asked[later] && asked[later]!.asked < next; later++) waiting.add(asked[later]!);
      for (const operation of waiting)
        if ((operation.hold?.from ?? operation.ended ?? now) < next) waiting.delete(operation);
      if (next > free && waiting.size > 0) {
        const joined = leastOf([...waiting].map((operation) => operation.asked)) + join;
        if (joined < next)
          yield { key, free: Math.max(free, joined), next, isHandOver: joined <= free && index < holds.length };
      }
      const hold = holds[index];
      if (hold) free = Math.max(free, hold.over ? (hold.freed ?? hold.until) : now);
    }
  }
}
