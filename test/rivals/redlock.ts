import { Redis } from 'ioredis';
import Redlock from 'redlock';
import { holdOf, type Rival } from './rival.ts';

/** `using`, which its documents recommend: it extends by itself, and tells of a loss by a signal. Default settings. */
export function openRedlock(...urls: string[]): Rival {
  const clients = urls.map((url) => new Redis(url));
  for (const client of clients) client.on('error', () => {});
  const waiting = new Redlock(clients);
  const trying = new Redlock(clients, { retryCount: 0 });
  for (const each of [waiting, trying]) each.on('error', () => {});
  return {
    obtain: (key, ttl, ms) => holdOf((work) => (ms === 0 ? trying : waiting).using([key], ttl, work)),
    close: async () => {
      for (const client of clients) client.disconnect();
    },
  };
}
