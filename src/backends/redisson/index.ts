export type { RedisClient } from '../redis/index.ts';
export { type RedissonOptions, redisson } from './backend.ts';
