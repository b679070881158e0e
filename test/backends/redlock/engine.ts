import { type EngineRow, server } from '../../kit/engine-row.ts';

export const engine: EngineRow = {
  needs: ['redis'],
  sites: { redlock: { start: server(async () => (await import('../../kit/redis.ts')).startRedisNodes(3)) } },
  unseen: ['drops wake-ups', 'gives a permit too many'],
  async options() {
    const { redlock } = await import('../../../src/backends/redlock/index.ts');
    const { Redis } = await import('ioredis');
    const clients = [1, 2, 3].map(() => new Redis({ lazyConnect: true }));
    return {
      redlock: {
        call: (options) => redlock(clients, options),
        end: () => clients.forEach((client) => void client.disconnect()),
      },
    };
  },
};
