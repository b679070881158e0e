import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import { holdOf, type Rival } from './rival.ts';

/** ms between two tries, its default. */
const RETRY_MS = 100;

/** What is used of the library. It is no package of the repository: `RIVAL_PACKAGES` names the folder that has it. */
interface Library {
  readonly IoredisAdapter: new (client: Redis) => object;
  createLock(config: object): { using<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> };
}

/** `using`, which its documents recommend: it extends by itself, and tells of a loss by a signal. */
export function openRedlockUniversal(url: string): Rival {
  const load = createRequire(join(process.env.RIVAL_PACKAGES ?? '', 'package.json'));
  const { IoredisAdapter, createLock } = load('redlock-universal') as Library;
  const client = new (load('ioredis') as { Redis: typeof Redis }).Redis(url);
  client.on('error', () => {});
  const adapter = new IoredisAdapter(client);
  return {
    obtain: (key, ttl, ms) => {
      const waits = { retryDelay: RETRY_MS, retryAttempts: Math.floor(ms / RETRY_MS) };
      return holdOf((work) => createLock({ adapter, key, ttl, ...waits }).using(work));
    },
    close: async () => client.disconnect(),
  };
}
