import { openEtcd3 } from './etcd3.ts';
import { openProperLockfile } from './proper-lockfile.ts';
import { openRedisSemaphore } from './redis-semaphore.ts';
import { openRedlock } from './redlock.ts';
import { openRedlockUniversal } from './redlock-universal.ts';
import type { Rival } from './rival.ts';
import { openVerrou } from './verrou.ts';

export type On = 'redis' | 'file' | 'etcd';

export const RIVALS: Readonly<Record<string, { readonly on: On; readonly open: (url: string) => Rival }>> = {
  redlock: { on: 'redis', open: openRedlock },
  'redis-semaphore': { on: 'redis', open: openRedisSemaphore },
  'redlock-universal': { on: 'redis', open: openRedlockUniversal },
  '@verrou/core': { on: 'redis', open: openVerrou },
  'proper-lockfile': { on: 'file', open: openProperLockfile },
  etcd3: { on: 'etcd', open: openEtcd3 },
};

/** Libraries in Java, by the lock that RedissonWorker.java takes. */
export const JAVA_RIVALS: Readonly<Record<string, string>> = { redisson: 'plain', 'redisson-fenced': 'fenced' };
