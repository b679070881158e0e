import { type EngineRow, nobody, server } from '../../kit/engine-row.ts';

export const engine: EngineRow = {
  needs: ['etcd'],
  sites: {
    etcd: {
      start: server(async () => (await import('../../kit/etcd.ts')).startEtcd()),
      dead: nobody('etcd', ''),
    },
  },
  timing: { ttl: 1_000, tolerance: 1_200 },
  async options() {
    const { etcd } = await import('../../../src/backends/etcd/index.ts');
    return {
      etcd: { call: (options) => etcd(options), needs: { endpoints: '127.0.0.1:1' }, inner: { tls: {} } },
    };
  },
};
