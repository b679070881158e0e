export { type QuorumOptions, quorum } from '../quorum/index.ts';
export type { RedisClient } from '../redis/index.ts';
export { type RedlockOptions, redlock } from './backend.ts';
