import type { RegisterEntry, RegisterStore } from '../../src/backends/register/index.ts';
import { type Clock, systemClock } from '../../src/core/contract/clock.ts';

/** What several stores share, as several clients of one server do. */
export interface Shared {
  readonly entries: Map<string, { text: string; version: string }>;
  readonly watchers: Set<{ key: string; tell: (entry?: RegisterEntry) => void }>;
  /** Made as written: what a client counts on. */
  requests: number;
  conflicts: number;
}

export const shared = (): Shared => ({ entries: new Map(), watchers: new Set(), requests: 0, conflicts: 0 });

export interface Wishes {
  readonly clock?: Clock;
  readonly tellsTime?: boolean;
  readonly watches?: boolean;
  /** ms: a request takes up to so long on the way, and up to so long back. */
  readonly delay?: number;
  readonly minTtl?: number;
}

let versions = 0;

/** A register in this process, for the laws of the engine: a request goes through it in one turn, after a delay that is drawn. */
export function memoryStore(
  { entries, watchers, ...rest }: Shared,
  { clock = systemClock, tellsTime = false, watches = false, delay = 0, minTtl }: Wishes = {},
): RegisterStore {
  const counted = rest as unknown as Shared;
  const way = (): Promise<void> =>
    delay === 0 ? Promise.resolve() : new Promise((resolve) => clock.after(clock.random() * delay, resolve));
  const entryOf = (key: string): RegisterEntry => ({
    ...entries.get(key),
    ...(tellsTime && { now: Math.floor(clock.now()) }),
  });
  return {
    name: 'register',
    tellsTime,
    ...(minTtl !== undefined && { minTtl }),
    async read(key) {
      counted.requests++;
      await way();
      const entry = entryOf(key);
      await way();
      return entry;
    },
    async write(key, text, ifVersion) {
      counted.requests++;
      await way();
      const matches = entries.get(key)?.version === ifVersion;
      const version = `v${++versions}`;
      if (matches) {
        entries.set(key, { text, version });
        for (const { key: watched, tell } of [...watchers]) if (watched === key) tell({ text, version });
      } else counted.conflicts++;
      await way();
      return matches && version;
    },
    ...(watches && {
      async watch(key: string, tell: (entry?: RegisterEntry) => void) {
        await way();
        const watcher = { key, tell };
        watchers.add(watcher);
        tell(entryOf(key));
        return {
          async [Symbol.asyncDispose]() {
            watchers.delete(watcher);
          },
        };
      },
    }),
    async *list(prefix) {
      await way();
      yield* [...entries.keys()].filter((key) => key.startsWith(prefix));
    },
    async remove(key) {
      await way();
      entries.delete(key);
    },
  };
}
