import { type EngineRow, redisSite } from '../../kit/engine-row.ts';

export const engine: EngineRow = {
  needs: ['redis', 'maven', 'python', 'go'],
  sites: { 'redis-plain': redisSite('redis+plain') },
  unseen: ['lets readers in beside a writer', 'gives a permit too many'],
  unmeasured: 'its tests measure how soon a waiter is in; what a lock costs is a command or two',
  async options() {
    const { plainRedis } = await import('../../../src/backends/redis-plain/index.ts');
    const client = new (await import('ioredis')).Redis({ lazyConnect: true });
    return { 'redis-plain': { call: (options) => plainRedis(client, options), end: () => client.disconnect() } };
  },
};
