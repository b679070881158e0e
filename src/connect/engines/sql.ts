import { isIP, type Socket } from 'node:net';
import { invalid, systemClock } from '../../core/index.ts';
import { CONNECT_LIMIT_MS, driver, type EngineUrl, openEngine } from '../engine.ts';
import { TLS_PARAMS, type Tls, tlsOf } from '../tls.ts';
import { type Address, pick, single } from '../url.ts';

/** The time in which a server ends a connection after the goodbye, ms. A silent one never would, and the process would live on. */
const GOODBYE_MS = 1_000;

function endOf(pool: { end(): Promise<void> }, streams: readonly Socket[] = []): Promise<void> {
  systemClock.after(GOODBYE_MS, () => streams.map((stream) => stream.destroy()), true);
  return pool.end();
}

export const postgresUrl: EngineUrl = {
  schemes: ['postgres', 'postgresql'],
  example: 'postgres://user@127.0.0.1:5432/app',
  ports: { 5432: 'postgres' },
  denials: ['28P01', '28000'], // a wrong password, a wrong user
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
      connectionTimeoutMillis: CONNECT_LIMIT_MS,
      max: 4,
    });
    pool.on('error', () => {}); // the failed calls show their errors
    const backend = postgres(pool, pick(address, 'prefix', 'schema'));
    const shown = pool as { _clients?: { connection: { stream: Socket } }[] };
    const streams = () => shown._clients?.map(({ connection }) => connection.stream);
    return openEngine(address, backend, () => endOf(pool, streams()));
  },
  async setupScript(address) {
    const { setupScript } = await import('../../backends/postgres/index.ts');
    return setupScript(pick(address, 'prefix', 'schema'));
  },
};

/** Whether `sslmode` asks for TLS. The other values of libpq are refused: they would accept the certificate of another host, or no TLS. */
function isEncrypted({ params }: Address): boolean {
  const mode = params.get('sslmode') ?? 'disable';
  if (!['disable', 'require', 'verify-full'].includes(mode))
    throw invalid('sslmode must be disable, require or verify-full; certificates are always verified');
  return mode !== 'disable';
}

export const mysqlUrl: EngineUrl = {
  schemes: ['mysql', 'mariadb'],
  example: 'mysql://user@127.0.0.1:3306/app',
  ports: { 3306: 'mysql' },
  denials: ['ER_ACCESS_DENIED_ERROR', 'ER_DBACCESS_DENIED_ERROR'],
  params: ['prefix', 'table', ...TLS_PARAMS],
  async open(address) {
    const { createPool } = await driver('mysql2');
    const { mysql } = await import('../../backends/mysql/index.ts');
    const { user, password, path } = address;
    const pool = createPool({
      ...single(address, 3306),
      user,
      password,
      database: path || undefined,
      ssl: strictTls(address),
      connectTimeout: CONNECT_LIMIT_MS,
      connectionLimit: 4,
    });
    const backend = mysql(pool, pick(address, 'prefix', 'table'));
    const { pool: core } = pool as { pool?: { _allConnections?: { toArray(): { stream: Socket }[] } } };
    const streams = () => core?._allConnections?.toArray().map(({ stream }) => stream);
    return openEngine(address, backend, () => endOf(pool, streams()));
  },
};

/** By default mysql2 accepts any host's certificate from a known authority. For an IP address, `verifyIdentity` would want that of `localhost`. */
function strictTls(address: Address): (Tls & { verifyIdentity: true }) | undefined {
  const tls = tlsOf(address);
  if (!tls) return undefined;
  const { host } = single(address, 3306);
  if (isIP(host)) {
    throw invalid(
      `mysql2 cannot tell whether a certificate is that of ${host}: with TLS, name the host, as in mysql://db.example/app`,
    );
  }
  return { ...tls, verifyIdentity: true };
}
