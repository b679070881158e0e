import { invalid } from '../../core/contract/errors.ts';
import { driver } from '../driver.ts';
import { CONNECT_WITHIN, type EngineUrl, openEngine } from '../engine.ts';
import { TLS_PARAMS, tlsOf } from '../tls.ts';
import { type Address, pick, single } from '../url.ts';

export const postgresUrl: EngineUrl = {
  schemes: ['postgres', 'postgresql'],
  example: 'postgres://user@127.0.0.1:5432/app',
  ports: { 5432: 'postgres' },
  denials: ['28P01', '28000'], // the password, the user
  params: ['prefix', 'schema', 'sslmode', ...TLS_PARAMS],
  async open(address) {
    const { Pool } = await driver('pg');
    const { postgres } = await import('../../backends/postgres/index.ts');
    const { user, password, path } = address;
    const pool = new Pool({
      ...single(address, 5432),
      user,
      password,
      database: path || undefined,
      ssl: tlsOf(address, isEncrypted(address)),
      connectionTimeoutMillis: CONNECT_WITHIN,
      max: 4,
    });
    pool.on('error', () => {}); // the calls that fail tell
    const backend = postgres(pool, pick(address, 'prefix', 'schema'));
    return openEngine(address, backend, () => pool.end());
  },
};

/** Those values of libpq's `sslmode` that are safe: the others would accept any certificate, or no TLS at all. */
function isEncrypted({ params }: Address): boolean {
  const mode = params.get('sslmode') ?? 'disable';
  if (!['disable', 'require', 'verify-full'].includes(mode))
    throw invalid('sslmode must be disable, require or verify-full; certificates are always verified');
  return mode !== 'disable';
}
