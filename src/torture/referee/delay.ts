import { setTimeout as sleep } from 'node:timers/promises';

/** Resolves after `ms`, or when the signal is aborted. */
export const delay = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(Math.max(0, ms), undefined, { signal }).catch(() => {});
