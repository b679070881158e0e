export { redis } from './backend.ts';
export type { RedisOptions } from './options.ts';
export type { RedisClient } from './port.ts';
