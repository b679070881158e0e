import { type EngineRow, nobody, server } from '../../kit/engine-row.ts';

export const engine: EngineRow = {
  needs: ['postgres'],
  sites: {
    postgres: {
      driver: 'pg',
      start: server(async () => (await import('../../kit/postgres.ts')).startPostgres()),
      dead: nobody('postgres', '/app'),
      refuses: true, // it trusts everybody who exists
    },
  },
  async options() {
    const { postgres, postgresAdvisory, setupScript } = await import('../../../src/backends/postgres/index.ts');
    const pool = new (await import('pg')).default.Pool();
    return {
      postgres: { call: (options) => postgres(pool, options), end: () => pool.end() },
      postgresAdvisory: { call: (options) => postgresAdvisory(pool, options) },
      setupScript: { call: (options) => setupScript(options) },
    };
  },
};
