import { CONNECT_WITHIN } from '../bounded.ts';
import { driver } from '../driver.ts';
import { type EngineUrl, opened, owning } from '../engine.ts';
import { TLS_PARAMS, tlsOf } from '../tls.ts';
import { picked, single } from '../url.ts';

export const mysqlUrl: EngineUrl = {
  schemes: ['mysql', 'mariadb'],
  example: 'mysql://user@127.0.0.1:3306/app',
  params: ['prefix', 'table', ...TLS_PARAMS],
  async open(address) {
    const { createPool } = await driver('mysql2', () => import('mysql2/promise'));
    const { mysql } = await import('../../backends/mysql/index.ts');
    const { user, password, path } = address;
    const pool = createPool({
      ...single(address, 3306),
      user,
      password,
      database: path || undefined,
      ssl: tlsOf(address),
      connectTimeout: CONNECT_WITHIN,
      connectionLimit: 4,
    });
    const backend = mysql(pool, picked(address, 'prefix', 'table'));
    return opened(
      address,
      owning(backend, () => pool.end()),
    );
  },
};
