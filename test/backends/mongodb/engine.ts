import { type EngineRow, nobody, server } from '../../kit/engine-row.ts';

export const engine: EngineRow = {
  needs: ['mongodb'],
  sites: {
    mongodb: {
      driver: 'mongodb',
      start: server(async () => (await import('../../kit/mongodb.ts')).startMongo()),
      dead: nobody('mongodb', '/app'),
    },
  },
  unmeasured: 'Debian has no package of it',
  async options() {
    const { mongodb } = await import('../../../src/backends/mongodb/index.ts');
    const client = new (await import('mongodb')).MongoClient('mongodb://127.0.0.1:1');
    return { mongodb: { call: (options) => mongodb(client.db('x'), options), end: () => client.close() } };
  },
};
