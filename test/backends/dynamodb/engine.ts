import { type EngineRow, server } from '../../kit/engine-row.ts';

export const engine: EngineRow = {
  needs: ['emulators'],
  register: true,
  sites: {
    dynamodb: {
      driver: '@aws-sdk/client-dynamodb',
      start: server(async () => (await import('../../kit/dynamodb.ts')).startDynamo()),
    },
  },
  unmeasured: 'the speed of an emulator says nothing; its page counts requests',
  async options() {
    const { dynamodb } = await import('../../../src/backends/dynamodb/index.ts');
    return { dynamodb: { call: (options) => dynamodb({ put: async () => ({}) } as never, 'table', options) } };
  },
};
