import { driver } from '../driver.ts';
import type { EngineUrl } from '../engine.ts';
import { owning } from '../engine.ts';
import { unreachable } from '../url.ts';

/**
 * No offline queue and no resending: what was not sent now is not sent behind the caller's back later, when nobody waits
 * for it any more.
 */
const SAFE = {
  lazyConnect: true,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  connectTimeout: 5_000,
} as const;

export const redisUrl: EngineUrl = {
  schemes: ['redis', 'rediss'],
  example: 'redis://127.0.0.1:6379/0',
  async open(address) {
    const { Redis } = await driver('ioredis', () => import('ioredis'));
    const { redis } = await import('../../backends/redis/index.ts');
    const { hosts, path, user, password, scheme, params } = address;
    const { host = '127.0.0.1', port = 6379 } = hosts[0] ?? {};
    const client = new Redis({
      ...SAFE,
      host,
      port,
      db: Number(path || 0),
      username: user,
      password,
      ...(scheme === 'rediss' ? { tls: { servername: host } } : {}),
    });
    client.on('error', () => {}); // told by the calls that fail
    try {
      await client.connect();
    } catch (cause) {
      client.disconnect();
      throw unreachable(address, cause);
    }
    return owning(redis(client, { prefix: params.get('prefix') ?? undefined }), () => client.disconnect());
  },
};
