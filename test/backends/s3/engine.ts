import { type EngineRow, server } from '../../kit/engine-row.ts';

export const engine: EngineRow = {
  needs: ['moto', 'emulators'],
  register: true,
  sites: {
    s3: {
      driver: '@aws-sdk/client-s3',
      start: server(async () => (await import('../../kit/s3.ts')).startS3()),
    },
  },
  unmeasured: 'the speed of an emulator says nothing; its page counts requests',
  async options() {
    const { s3 } = await import('../../../src/backends/s3/index.ts');
    return { s3: { call: (options) => s3({ putObject: async () => ({}) } as never, 'bucket', options) } };
  },
};
