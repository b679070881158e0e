import { setTimeout as sleep } from 'node:timers/promises';
import { type Duration, isLockError } from '../../src/core/index.ts';
import type { Mutex } from '../../src/primitives/lock.ts';
import { RESERVE } from './cell.ts';
import { type Cells, type Look, transits } from './cells.ts';
import { isStockError } from './errors.ts';
import { checkCount, checkDuration, checkOptions, MAX_UNITS } from './input.ts';
import type { LayoutCache } from './layout.ts';

/** How long the engine may be out of reach before the rebalancer throws. */
const MAX_TROUBLE_MS = 60_000;

/** Options of `rebalance`. */
export interface Rebalancing {
  /** A segment with fewer free units than this gets more. Default 10. */
  readonly low?: number;
  /** How many units a segment gets at a time. Default 20. */
  readonly batch?: number;
  /** Pause between two looks. Default 1 s. */
  readonly every?: Duration;
  /** Whether fewer segments are used when the reserve is empty and the segments run low. Default false. */
  readonly merge?: boolean;
  /** Ends the rebalancing. */
  readonly signal?: AbortSignal;
}

interface WantedMove {
  readonly from: number;
  readonly to: number;
  readonly units: number;
}

/**
 * What to move next: out of segments that are no longer used, and from the reserve to the segments that run low, the emptiest first.
 * @param size how many segments are used
 */
function plan(look: Look, size: number, low: number, batch: number): WantedMove[] {
  const cells = [...look].filter(([i]) => i !== RESERVE);
  const drained = cells
    .filter(([i, { free }]) => i >= size && free > 0)
    .map(([from, { free }]) => ({ from, to: RESERVE, units: free }));
  let left = look.get(RESERVE)!.free;
  const filled: WantedMove[] = [];
  const poor = cells.filter(([i, { free }]) => i < size && free < low).sort(([, a], [, b]) => a.free - b.free);
  for (const [to] of poor) {
    const units = Math.min(batch, left);
    if (units > 0) filled.push({ from: RESERVE, to, units });
    left -= units;
  }
  return [...drained, ...filled];
}

/** How many segments to keep: fewer if the reserve is empty and half of them are enough for `low` units each. */
function segmentsWorthKeeping(look: Look, size: number, low: number): number {
  let free = 0;
  for (const cell of look.values()) free += cell.free;
  const needed = Math.max(1, Math.ceil(free / low));
  return look.get(RESERVE)!.free === 0 && needed <= size / 2 ? needed : size;
}

/** Works under the lock: in one process at a time. If that process dies, another one takes over. */
export async function rebalance(lock: Mutex, cells: Cells, layout: LayoutCache, options: Rebalancing): Promise<void> {
  checkOptions(options, ['low', 'batch', 'every', 'merge', 'signal'], 'rebalance');
  const { low = 10, batch = 20, every: pause = '1s', signal, merge = false } = options;
  checkCount(low, 'low', 1, MAX_UNITS);
  checkCount(batch, 'batch', 1, MAX_UNITS);
  const every = checkDuration(pause, 'every');
  /** Since when the engine is out of reach; undefined: it answers. */
  let since: number | undefined;

  /** Works while the lock is held. @returns true if nothing is left to do, ever, or `signal` is aborted */
  const work = async (lease: { readonly held: boolean; readonly signal: AbortSignal }): Promise<boolean> => {
    const stop = signal ? AbortSignal.any([signal, lease.signal]) : lease.signal;
    while (lease.held && !stop.aborted) {
      const { cells: count, sizes, closed } = await layout.read();
      const look = await cells.look(count);
      since = undefined;
      const size = sizes.at(-1)!;
      const moving = transits(look);
      await Promise.all(moving.map((transit) => cells.finish(transit)));
      // One after the other: many moves out of one cell at once would delay the sellers.
      const wanted = plan(look, size, low, batch);
      for (const { from, to, units } of wanted) if (lease.held) await cells.move(from, to, units);
      const fewer = merge ? segmentsWorthKeeping(look, size, low) : size;
      if (fewer < size) await layout.resize(fewer);
      else if (wanted.length + moving.length === 0 && closed && look.get(RESERVE)!.free === 0) return true;
      if (wanted.length === 0) await sleep(every, undefined, { signal: stop }).catch(() => {});
    }
    return signal?.aborted ?? false;
  };

  for (;;) {
    const began = performance.now();
    try {
      if (await lock.run(work, { wait: 'forever', signal })) return;
    } catch (error) {
      if (signal?.aborted) return;
      const now = performance.now();
      // If the wait for the lock was so long, the engine has answered since the last error: the trouble is new.
      if (since === undefined || now - began > MAX_TROUBLE_MS) since = now;
      if (!mayPass(error) || now - since > MAX_TROUBLE_MS) throw error;
      await sleep(every, undefined, { signal }).catch(() => {});
    }
  }
}

/** Whether the work goes on after the error, such as a broken connection. */
const mayPass = (error: unknown): boolean =>
  isStockError(error)
    ? error.code === 'STOCK_BUSY'
    : !isLockError(error) || ['LOCK_LOST', 'LOCK_UNAVAILABLE', 'LOCK_TIMEOUT'].includes(error.code);
