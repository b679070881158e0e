import { type EngineRow, nobody, server } from '../../kit/engine-row.ts';
import { HOST } from '../../kit/net.ts';

export const engine: EngineRow = {
  needs: ['redis'],
  sites: {
    redis: {
      driver: 'ioredis',
      start: server(async () => (await import('../../kit/redis.ts')).startRedis()),
      dead: nobody('redis', ''),
      refuses: true,
    },
    'redis-sentinel': {
      driver: 'ioredis',
      start: server(async () => (await import('../../kit/redis.ts')).startRedisSentinel()),
      dead: nobody('redis+sentinel', `,${HOST}:2/main`),
      refuses: true,
    },
    'redis-cluster': {
      driver: 'ioredis',
      start: server(async () => (await import('../../kit/redis.ts')).startRedisCluster()),
      dead: nobody('redis+cluster', `,${HOST}:2`),
      refuses: true,
    },
  },
  async options() {
    const { redis } = await import('../../../src/backends/redis/index.ts');
    const client = new (await import('ioredis')).Redis({ lazyConnect: true });
    return {
      redis: {
        call: (options) => redis(client, options),
        inner: { replicas: { acknowledge: 1 } },
        end: () => client.disconnect(),
      },
    };
  },
};
