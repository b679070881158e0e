import { type EngineRow, nobody, server } from '../../kit/engine-row.ts';

export const engine: EngineRow = {
  needs: ['zookeeper'],
  sites: {
    zookeeper: {
      // Its sessions expire in steps of the tick.
      start: server(
        async () => (await import('../../kit/zookeeper.ts')).startZookeeper({ tickTime: '200' }),
        (ttl) => `?sessionTimeout=${ttl}`,
      ),
      dead: nobody('zookeeper', ''),
    },
  },
  unseen: ['ignores expires'], // a session frees what its process held
  timing: { tolerance: 400 },
  async options() {
    const { zookeeper } = await import('../../../src/backends/zookeeper/index.ts');
    return { zookeeper: { call: (options) => zookeeper(options), needs: { servers: '127.0.0.1:1' } } };
  },
};
