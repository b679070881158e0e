import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Contestant, Release } from '../contestant.ts';

export interface Held {
  /** Part of one core. */
  readonly cpu: number;
  /** p99 of how late the event loop was, ms. */
  readonly late: number;
  readonly lost: number;
}

let releases: Release[] = [];

export async function takeMany(contestant: Contestant, count: number): Promise<void> {
  releases = await Promise.all(Array.from({ length: count }, (_, i) => contestant.lock(`hold:${i}`)()));
}

/** What it costs to keep them. A hold is lost when its release frees nothing. */
export async function keepMany(ms: number): Promise<Held> {
  const began = process.cpuUsage();
  await sleep(ms);
  const { user, system } = process.cpuUsage(began);
  // Not at the same time: to look every ms costs more than the renewals.
  const resolution = 1;
  const delay = monitorEventLoopDelay({ resolution });
  delay.enable();
  await sleep(ms);
  delay.disable();
  const freed = await Promise.all(releases.map((release) => release()));
  return {
    cpu: (user + system) / 1_000 / ms,
    late: delay.percentile(99) / 1e6 - resolution,
    lost: freed.filter((answer) => answer !== true).length,
  };
}
