import { Redis } from 'ioredis';
import Redlock from 'redlock';
import type { Rival, RivalHold } from './rival.ts';

/** `using`, which its documents recommend: it extends by itself, and tells of a loss by a signal. Default settings. */
export function openRedlock(...urls: string[]): Rival {
  const clients = urls.map((url) => new Redis(url));
  for (const client of clients) client.on('error', () => {});
  const waiting = new Redlock(clients);
  const trying = new Redlock(clients, { retryCount: 0 });
  for (const each of [waiting, trying]) each.on('error', () => {});
  return {
    obtain: (key, ttl, ms) =>
      new Promise<RivalHold | null>((resolve) => {
        const { promise: over, resolve: done } = Promise.withResolvers<void>();
        const used = (ms === 0 ? trying : waiting).using([key], ttl, async (signal) => {
          const release = async (): Promise<void> => {
            done();
            await used.catch(() => {});
          };
          resolve({ held: () => !signal.aborted, signal, release });
          await over;
        });
        used.catch(() => resolve(null));
      }),
    close: async () => {
      for (const client of clients) client.disconnect();
    },
  };
}
