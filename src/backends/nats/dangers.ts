import type { Danger } from '../shared/danger.ts';

export interface Facts {
  readonly replicas: number;
  readonly storage: string;
  readonly synced: boolean;
  /** ms; 0 or less: for good. */
  readonly ttl: number;
  /** Bytes; −1: any. */
  readonly maxValueSize: number;
  readonly mirror: boolean;
}

/** Longest text of a line that an engine may have to write, bytes. */
const LONGEST_TEXT = 65_536;

export const DANGERS: readonly Danger<Facts>[] = [
  {
    severity: 'danger',
    code: 'one-replica',
    when: ({ replicas }) => replicas < 3,
    message: ({ replicas }) =>
      `the bucket has R${replicas}: with a lost server or disk the locks are lost, and others get them`,
    advice: 'give it three replicas: nats stream edit KV_<bucket> --replicas 3',
  },
  {
    severity: 'danger',
    code: 'memory-storage',
    when: ({ storage }) => storage === 'memory',
    message: 'the bucket is in memory: what a server acknowledged is gone when it starts anew',
    advice: 'make it with storage: file',
  },
  {
    severity: 'danger',
    code: 'bucket-ttl',
    when: ({ ttl }) => ttl > 0,
    message: ({ ttl }) =>
      `the bucket removes what nobody has written for ${ttl} ms: a lease that is as long would be gone before its end, and is refused`,
    advice: 'make the bucket without a ttl: nats stream edit KV_<bucket> --max-age 0',
  },
  {
    severity: 'danger',
    code: 'mirror',
    when: ({ mirror }) => mirror,
    message: 'the bucket is a mirror: it is behind what was written, so a holder may be told that its lock is gone',
    advice: 'use the bucket that it mirrors',
  },
  {
    severity: 'warning',
    code: 'small-values',
    when: ({ maxValueSize }) => maxValueSize >= 0 && maxValueSize < LONGEST_TEXT,
    message: ({ maxValueSize }) =>
      `the bucket takes values of up to ${maxValueSize} bytes: a line of many waiters is longer, and then nobody can come to it or leave it`,
    advice: 'let it take 64 kB: nats stream edit KV_<bucket> --max-msg-size 65536',
  },
  {
    severity: 'danger',
    code: 'sync-interval',
    when: ({ synced }) => !synced,
    message:
      'JetStream flushes to disk every two minutes unless sync_interval is always: a power failure takes back what was acknowledged, and two may hold',
    advice: 'set jetstream { sync_interval: always } on every server, then pass synced: true',
  },
];
