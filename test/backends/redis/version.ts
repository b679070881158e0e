import type { Redis } from 'ioredis';
import { askRedis } from '../../kit/redis.ts';

/** When the key vanishes, ms since 1970 by the server's clock. Redis 6.2 has no PEXPIRETIME. */
export async function expiryOf(client: Redis, key: string): Promise<number> {
  const script = `local t = redis.call('time') return t[1] * 1000 + math.floor(t[2] / 1000) + redis.call('pttl', KEYS[1])`;
  return Number(await client.eval(script, 1, key));
}

/** Whether its scripts write where a command alone is refused: with too few replicas, or after a save that failed. */
export const writesInScripts = async (port: number): Promise<boolean> =>
  /redis_version:6\./.test(await askRedis(port, 'INFO server'));
