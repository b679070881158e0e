import { type EngineRow, nobody, server } from '../../kit/engine-row.ts';

export const engine: EngineRow = {
  needs: ['mariadb', 'mysqld'],
  sites: {
    mysql: {
      driver: 'mysql2',
      start: server(async () => (await import('../../kit/mariadb.ts')).startMariadb()),
      dead: nobody('mysql', '/app'),
      refuses: true,
    },
  },
  async options() {
    const { mysql, mysqlNamed } = await import('../../../src/backends/mysql/index.ts');
    const pool = (await import('mysql2/promise')).createPool({});
    return {
      mysql: { call: (options) => mysql(pool, options), end: () => pool.end() },
      mysqlNamed: { call: (options) => mysqlNamed(pool, options) },
    };
  },
};
