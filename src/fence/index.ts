export type { EtcdOptions } from '../backends/etcd/options.ts';
export type { Transaction } from '../transaction/clients.ts';
export type { DialectName, Query } from '../transaction/query.ts';
export { type EtcdFence, type EtcdPut, etcdFence } from './etcd.ts';
export { type Fence, type MemoryFence, memoryFence } from './fence.ts';
export { type RedisFence, type RedisFenceOptions, redisFence } from './redis.ts';
export { type FenceFragments, fenceColumn, fenced, type SqlFence, type SqlFenceOptions, sqlFence } from './sql.ts';
