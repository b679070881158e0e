export type { RedisClient } from '../redis/index.ts';
export { type PlainRedisOptions, plainRedis } from './backend.ts';
