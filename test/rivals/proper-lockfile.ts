import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { lock } from 'proper-lockfile';
import type { Rival } from './rival.ts';

/** ms between two tries: it does not wait by itself. */
const RETRY = 50;

/** A folder that is touched again and again, with a callback for a loss. `stale` is the lease here; by default it is 10 s. */
export function openProperLockfile(url: string): Rival {
  const folder = dirname(fileURLToPath(url));
  return {
    async obtain(key, ttl, ms) {
      const lost = new AbortController();
      const retries = ms === 0 ? 0 : { retries: Math.ceil(ms / RETRY), minTimeout: RETRY, factor: 1 };
      const onCompromised = (error: Error): void => lost.abort(error);
      const release = await lock(join(folder, encodeURIComponent(key)), {
        ...{ realpath: false, stale: ttl, retries, onCompromised },
      }).catch(() => null);
      if (!release) return null;
      return { held: () => !lost.signal.aborted, signal: lost.signal, release: () => release().catch(() => {}) };
    },
    close: async () => {},
  };
}
