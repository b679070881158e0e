export type { RedisClient } from '../redis/index.ts';
export { redisson } from './backend.ts';
export type { RedissonOptions } from './options.ts';
