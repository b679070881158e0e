import { setTimeout as sleep } from 'node:timers/promises';
import { isLockError, PLACE_TTL_MS } from '../../../src/core/index.ts';
import type { Locks, QueueEntry } from '../../../src/index.ts';
import { MIN_DELAY_MS } from '../events.ts';
import { LATENESS_INTERVAL_MS } from '../hand-overs.ts';
import { delay } from './fault-injector.ts';
import type { RunRecord } from './run-record.ts';

/** Time between two looks at the engine. */
const PROBE_MS = LATENESS_INTERVAL_MS;
/** Time between two looks at this process itself. */
const TICK_MS = 100;
/** The engine is slow if an answer takes longer than this; the machine, if a timer is late by `STALL_MS`. */
const SLOW_MS = 800;
const STALL_MS = 400;
/** Time between two looks at the claims that are left. */
const LOOK_INTERVAL_MS = 250;
/** How much longer than its lease a hold may stay, because the engine may remove it only with its next sweep. */
const MORE_MS = 5_000;

/**
 * Checks whether the engine answers on a connection without faults. While it does not, the judge counts no wait as a violation.
 * @param patience after so many ms without an answer, `gone` is aborted
 */
export async function watchEngine(
  locks: Locks,
  key: string,
  roundTrip: number,
  record: RunRecord,
  signal: AbortSignal,
  patience: number,
  gone: AbortController,
): Promise<void> {
  for (let answered = performance.now(); !signal.aborted; ) {
    let end: ((effective: boolean) => void) | undefined;
    const slow = (): void => {
      end ??= record.disturb('no answer');
    };
    const late = setTimeout(slow, SLOW_MS);
    const asked = performance.now();
    if (await answers(locks, key)) answered = performance.now();
    else slow();
    // `answers` asks the engine twice.
    record.add({ what: 'late', ms: Math.max(0, (performance.now() - asked) / 2 - roundTrip) });
    clearTimeout(late);
    end?.(false);
    if (performance.now() - answered > patience) gone.abort();
    await delay(PROBE_MS, signal);
  }
}

async function answers(locks: Locks, key: string): Promise<boolean> {
  try {
    const lease = await locks.mutex(key).tryAcquire();
    await lease?.release();
    return true;
  } catch {
    return false;
  }
}

/** Checks whether the machine lets this process run. While it does not, the judge counts no wait as a violation. */
export async function watchMachine(record: RunRecord, signal: AbortSignal): Promise<void> {
  for (let last = performance.now(); !signal.aborted; last = performance.now()) {
    await delay(TICK_MS, signal);
    const ms = performance.now() - last - TICK_MS;
    if (ms >= MIN_DELAY_MS) record.add({ what: 'late', ms });
    if (ms > STALL_MS) record.disturb('slow machine')(false);
  }
}

/** All claims with this prefix; none if the engine cannot list. */
async function* entriesOf(locks: Locks, prefix = ''): AsyncIterable<QueueEntry> {
  try {
    yield* locks.inspect(prefix);
  } catch (error) {
    if (!isLockError(error, 'LOCK_UNSUPPORTED')) throw error;
  }
}

export async function firstEntry(locks: Locks): Promise<QueueEntry | undefined> {
  for await (const entry of entriesOf(locks)) return entry;
  return undefined;
}

/**
 * Called after all processes have ended. Waits until their leases and places are over, and then releases what is left.
 * @returns the holds of the processes that outlasted their leases
 */
export async function clearKeys(locks: Locks, prefix: string, ttl: number): Promise<QueueEntry[]> {
  const until = performance.now() + Math.max(ttl * 1.5, PLACE_TTL_MS) + MORE_MS;
  // Each look is at all keys: in a store without a clock, a claim expires as long after the first look at it as its lease lasts.
  const look = async (): Promise<QueueEntry[]> => {
    const entries: QueueEntry[] = [];
    for await (const entry of entriesOf(locks, prefix)) entries.push(entry);
    return entries;
  };
  const first = await look();
  let left = first;
  while (left.length > 0 && performance.now() < until) {
    await sleep(LOOK_INTERVAL_MS);
    left = await look();
  }
  for (const key of new Set(left.map((entry) => entry.key)))
    await locks.forceRelease(key, { reason: 'left behind by holdfast torture' });
  // A claim that waited when its process ended does not count: far back in the queue of a store without a clock, it lives for up to two minutes.
  return left.filter(({ held, key, token }) =>
    first.some((entry) => held && entry.held && entry.key === key && entry.token === token),
  );
}
