import { type EngineRow, redisSite } from '../../kit/engine-row.ts';

export const engine: EngineRow = {
  needs: ['redis'],
  sites: { redisson: redisSite('redis+redisson') },
  unseen: ['gives a permit too many'],
  unmeasured: 'its tests measure how soon a waiter is in; what a lock costs is a command or two',
  async options() {
    const { redisson } = await import('../../../src/backends/redisson/index.ts');
    const client = new (await import('ioredis')).Redis({ lazyConnect: true });
    return { redisson: { call: (options) => redisson(client, options), end: () => client.disconnect() } };
  },
};
