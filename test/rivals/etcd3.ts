import { setTimeout as sleep } from 'node:timers/promises';
import { Etcd3, EtcdLockFailedError } from 'etcd3';
import type { Rival, RivalHold } from './rival.ts';

/** It does not wait: who wants to asks again. ms */
const AGAIN = 50;

/** `lock(key).ttl(s).acquire()`, which keeps its lease alive and tells of no loss. Default settings. */
export function openEtcd3(url: string): Rival {
  const client = new Etcd3({ hosts: url.replace('etcd:', 'http:') });
  const attempt = async (key: string, ttl: number): Promise<RivalHold | null> => {
    const lock = client.lock(key).ttl(Math.ceil(ttl / 1_000));
    try {
      await lock.acquire();
    } catch (error) {
      // What it gave back after a refusal is not to be given back again.
      if (!(error instanceof EtcdLockFailedError)) await lock.release().catch(() => {});
      return null;
    }
    let held = true;
    const release = (): Promise<void> => {
      held = false;
      return lock.release().catch(() => {});
    };
    return { held: () => held, release };
  };
  return {
    async obtain(key, ttl, ms) {
      for (const end = performance.now() + ms; ; await sleep(AGAIN)) {
        const hold = await attempt(key, ttl);
        if (hold || performance.now() >= end) return hold;
      }
    },
    close: async () => client.close(),
  };
}
