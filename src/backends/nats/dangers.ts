import type { Danger } from '../shared/danger.ts';

export interface Facts {
  readonly replicas: number;
  readonly storage: string;
  readonly synced: boolean;
}

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
    code: 'sync-interval',
    when: ({ synced }) => !synced,
    message:
      'JetStream flushes to disk every two minutes unless sync_interval is always: a power failure takes back what was acknowledged, and two may hold',
    advice: 'set jetstream { sync_interval: always } on every server, then pass synced: true',
  },
];
