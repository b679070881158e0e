export type { RedisClient } from '../redis/index.ts';
export { plainRedis } from './backend.ts';
export type { PlainRedisOptions } from './options.ts';
