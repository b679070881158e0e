import { type EngineRow, nobody, server } from '../../kit/engine-row.ts';

export const engine: EngineRow = {
  needs: ['nats'],
  sites: {
    nats: {
      driver: '@nats-io/transport-node',
      start: server(async () => (await import('../../kit/nats.ts')).startNats()),
      dead: nobody('nats', '/locks'),
    },
    'nats-cluster': {
      driver: '@nats-io/transport-node',
      start: server(async () => (await import('../../kit/nats.ts')).startNatsCluster()),
    },
  },
  unmeasured: 'its page counts requests',
  timing: { ttl: 1_000, tolerance: 500 }, // each write is flushed, also where other servers use the same disk
  async options() {
    const { nats } = await import('../../../src/backends/nats/index.ts');
    return { nats: { call: (options) => nats({ update: async () => 1 } as never, options) } };
  },
};
