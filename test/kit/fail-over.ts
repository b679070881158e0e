import { createPool } from 'mysql2/promise';
import pg from 'pg';
import type { MysqlKind } from './mysql-kinds.ts';
import { startPostgres, startStandby } from './postgres.ts';
import { type FaultProxy, startProxy } from './proxy.ts';
import type { Server } from './server.ts';
import { until } from './wait.ts';

/** Two servers, one of which follows the other, behind one address. */
export interface Pair {
  readonly address: FaultProxy;
  /** Of a user who may write only where everybody may. */
  readonly url: string;
  /** The address moves to the server that followed. The other one takes no writes any more, and keeps its connections. */
  failOver(): Promise<void>;
}

export async function startPostgresPair(stack: AsyncDisposableStack): Promise<Pair> {
  const primary = stack.use(await startPostgres({ fsync: 'off', synchronous_commit: 'remote_apply' }));
  const standby = stack.use(await startStandby(primary));
  // From now on a commit waits for the standby, which so has all that was told.
  await inPostgres(primary, "ALTER SYSTEM SET synchronous_standby_names = '*'", 'SELECT pg_reload_conf()');
  const address = stack.use(await startProxy(primary.port));
  return {
    address,
    url: primary.url.replace(`:${primary.port}`, `:${address.port}`),
    async failOver() {
      const none = "ALTER SYSTEM SET synchronous_standby_names = ''";
      const closed = 'ALTER SYSTEM SET default_transaction_read_only = on';
      await inPostgres(primary, none, closed, 'SELECT pg_reload_conf()');
      await inPostgres(standby, 'SELECT pg_promote()', none, 'SELECT pg_reload_conf()');
      address.target = standby.port;
    },
  };
}

/** @returns the rows of the last statement */
export async function inPostgres({ url }: Pick<Server, 'url'>, ...statements: string[]): Promise<object[]> {
  const client = new pg.Client(url);
  client.on('error', () => {});
  await client.connect();
  let rows: object[] = [];
  for (const statement of statements) ({ rows } = await client.query(statement));
  await client.end();
  return rows;
}

/** How a server of each kind begins to follow another one. */
const FOLLOW: Readonly<Record<MysqlKind['name'], (primary: Server) => string[]>> = {
  MariaDB: ({ host, port }) => [
    `CHANGE MASTER TO MASTER_HOST='${host}', MASTER_PORT=${port}, MASTER_USER='root'`,
    'START SLAVE',
  ],
  MySQL: ({ host, port }) => [
    `CHANGE REPLICATION SOURCE TO SOURCE_HOST='${host}', SOURCE_PORT=${port}, SOURCE_USER='root', GET_SOURCE_PUBLIC_KEY=1`,
    'START REPLICA',
  ],
};

export async function follow(kind: MysqlKind, replica: Server, primary: Server): Promise<void> {
  for (const statement of FOLLOW[kind.name](primary)) await inMysql(replica, statement);
}

const STOP: Readonly<Record<MysqlKind['name'], string>> = { MariaDB: 'STOP SLAVE', MySQL: 'STOP REPLICA' };

/** @param settings of both servers */
export async function startMysqlPair(
  stack: AsyncDisposableStack,
  kind: MysqlKind,
  settings: Readonly<Record<string, string>> = {},
): Promise<Pair> {
  const quick = { 'log-bin': 'binlog', 'innodb-flush-log-at-trx-commit': '2', ...settings };
  const [primary, replica] = (await Promise.all(
    [1, 2].map(async (id) => stack.use(await kind.start({ ...quick, 'server-id': `${id}` }))),
  )) as [Server, Server];
  await inMysql(primary, "CREATE USER app@'127.0.0.1'", "GRANT ALL ON holdfast.* TO app@'127.0.0.1'");
  await follow(kind, replica, primary);
  await inMysql(replica, 'SET GLOBAL read_only = 1');
  const address = stack.use(await startProxy(primary.port));
  const content = async (server: Server): Promise<string> => {
    const tables = await inMysql(server, 'SHOW TABLES');
    const names = (tables as object[]).flatMap((row) => Object.values(row) as string[]);
    return JSON.stringify(names.length > 0 && (await inMysql(server, `CHECKSUM TABLE ${names.join()}`)));
  };
  return {
    address,
    url: primary.url.replace('root@', 'app@').replace(`:${primary.port}`, `:${address.port}`),
    async failOver() {
      await inMysql(primary, 'SET GLOBAL read_only = 1');
      await until('the replica has it all', async () => (await content(primary)) === (await content(replica)));
      await inMysql(replica, STOP[kind.name], 'SET GLOBAL read_only = 0');
      address.target = replica.port;
    },
  };
}

/** @returns the rows of the last statement */
export async function inMysql({ url }: Pick<Server, 'url'>, ...statements: string[]): Promise<unknown> {
  const pool = createPool({ uri: url, connectionLimit: 1 });
  try {
    let rows: unknown;
    for (const statement of statements) [rows] = await pool.query(statement);
    return rows;
  } finally {
    await pool.end();
  }
}
