export { redis } from './backend.ts';
export type { RedisClient } from './client.ts';
export type { RedisOptions } from './options.ts';
