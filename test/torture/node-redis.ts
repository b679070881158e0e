/** The program of a process that asks its Redis by node-redis. */
export const NODE_REDIS = new URL('node-redis.worker.ts', import.meta.url);
