import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe } from 'node:diagnostics_channel';
import type { Happening, What } from './happening.ts';

const notes: Happening[] = [];
const whose = new AsyncLocalStorage<string>();

/** Notes what happens in this process, with the time. */
export function note(who: string, what: What, more: Omit<Happening, 'at' | 'who' | 'what'> = {}): void {
  notes.push({ at: performance.timeOrigin + performance.now(), who, what, ...more });
}

/** Runs `work` for `who`: if it waits for a lock of holdfast, that is noted, too. */
export function noting<T>(who: string, work: () => T): T {
  return whose.run(who, work);
}

/** What was noted since it was asked for the last time. */
export const takeNotes = (): Happening[] => notes.splice(0);

subscribe('holdfast:waiting', (message) => {
  const who = whose.getStore();
  const { key } = message as { readonly key: string };
  if (who !== undefined) note(who, 'waits', { thing: numberOf(key) });
});

/** Keys end with the number of the order, or of the segment. */
const numberOf = (key: string): number => Number(key.slice(key.lastIndexOf(':') + 1));
