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
/** After so long an engine, or a machine, is slow. */
const SLOW_MS = 800;
const STALL_MS = 400;
/** Time between two looks at what is left. */
const LOOK_INTERVAL_MS = 250;
/** How much longer than its lease a hold may last, if it was not renewed yet, or the engine has to sweep. */
const MORE_MS = 5_000;

/**
 * Checks whether the engine answers on a connection without faults. If not, the judge blames nobody for waiting.
 * @param patience after so many ms without an answer the server is gone for good, which aborts `gone`
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
    // A look asks the engine twice.
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

/** Checks whether the machine lets this process run. If not, the judge blames nobody for waiting. */
export async function watchMachine(record: RunRecord, signal: AbortSignal): Promise<void> {
  for (let last = performance.now(); !signal.aborted; last = performance.now()) {
    await delay(TICK_MS, signal);
    const ms = performance.now() - last - TICK_MS;
    if (ms >= MIN_DELAY_MS) record.add({ what: 'late', ms });
    if (ms > STALL_MS) record.disturb('slow machine')(false);
  }
}

/** The first claim under the prefix of these locks; undefined also if the engine cannot list. */
export async function firstEntry(locks: Locks, prefix = ''): Promise<QueueEntry | undefined> {
  try {
    for await (const entry of locks.inspect(prefix)) return entry;
  } catch (error) {
    if (!isLockError(error, 'LOCK_UNSUPPORTED')) throw error;
  }
  return undefined;
}

/**
 * After the end of all processes: waits until their leases and places are over, and then releases what is still there.
 * @returns the holds that outlasted their leases
 */
export async function clearKeys(locks: Locks, prefix: string, ttl: number): Promise<QueueEntry[]> {
  const until = performance.now() + Math.max(ttl * 1.5, PLACE_TTL_MS) + MORE_MS;
  let left = await firstEntry(locks, prefix);
  while (left && performance.now() < until) {
    await sleep(LOOK_INTERVAL_MS);
    left = await firstEntry(locks, prefix);
  }
  const stayed: QueueEntry[] = [];
  if (left) for await (const entry of locks.inspect(prefix)) if (entry.held) stayed.push(entry);
  for (const key of new Set(stayed.map((entry) => entry.key)))
    await locks.forceRelease(key, { reason: 'left behind by holdfast torture' });
  return stayed;
}
