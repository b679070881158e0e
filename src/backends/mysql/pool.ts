import { counted, invalid } from '../../core/index.ts';
import {
  type CallbackPool,
  type Connection,
  isMariadbPool,
  likeMysql2,
  type MariadbPool,
  type PoolState,
  type QueryOptions,
  ROWS,
} from './connection.ts';

/** mysql2's pool: the one with callbacks, or the one with promises, which contains the other. Or that of the package `mariadb`. */
export type MysqlPool = CallbackPool | { readonly pool: CallbackPool } | MariadbPool;

/**
 * Sends a statement, prepared by `execute`. It uses callbacks: mysql2's promises make an error, with its stack, for each call.
 * @returns rows, or a header
 */
export const ask = (
  connection: Connection,
  how: 'execute' | 'query',
  statement: Omit<QueryOptions, keyof typeof ROWS>,
) =>
  new Promise<unknown>((resolve, reject) => {
    connection[how]({ ...statement, ...ROWS }, (error, result) => (error ? reject(error) : resolve(result)));
  });

export function destroy(connection: Connection): void {
  connection.destroy();
  // mysql2 (3.24) then waits for the server to hang up. A server that fell silent would keep the process alive.
  connection.stream?.destroy();
}

/** @throws LockError `LOCK_INVALID` when it is no pool */
export function coreOf(pool: MysqlPool): CallbackPool {
  const core = (pool as { readonly pool?: CallbackPool } | undefined)?.pool ?? (pool as CallbackPool | undefined);
  if (typeof core?.getConnection === 'function' && typeof core.promise === 'function') return core;
  if (isMariadbPool(pool)) return likeMysql2(pool);
  throw invalid(
    'mysql() and mysqlNamed() need a pool of mysql2, or one of mariadb with promises: createPool(…), not a connection, a cluster of pools, a pool of another driver or a URL',
  );
}

/** A connection of the pool, as soon as one is free. */
export function borrow(pool: CallbackPool): Promise<Connection> {
  return new Promise((resolve, reject) => {
    pool.getConnection((error, connection) => (error ? reject(error) : resolve(connection)));
  });
}

/** How many connections it has; 0 where it does not tell. */
export const openIn = (pool: CallbackPool): number => (pool as PoolState)._allConnections?.length ?? 0;

/** Why a statement may not be sent: no connection of the pool is free. Undefined where one is, or where the pool does not tell. */
export function busyPool(pool: MysqlPool): string | undefined {
  const { _allConnections: all, _freeConnections: free, _connectionQueue: queue, config } = coreOf(pool) as PoolState;
  if (!all?.length || !queue?.length || free?.length || all.length < (config?.connectionLimit ?? 0)) return undefined;
  return `all ${counted(all.length, 'connection')} of the pool are in use, and ${counted(queue.length, 'statement waits', 'statements wait')} for one`;
}

/** Whether its owner has closed it. */
export const isEnded = (pool: MysqlPool): boolean => (coreOf(pool) as PoolState)._closed === true;

/** Whether it tells how to open a connection like its own. */
export const canMakeLike = (pool: MysqlPool): boolean =>
  (coreOf(pool) as PoolState).config?.connectionConfig !== undefined;

export type PoolOfOne = CallbackPool & { end(done: (error?: unknown) => void): void };

/**
 * A pool of one connection like those of `pool`: of the same class, with the same options. mysql2 gives no other way to such a
 * connection. It is opened when it is needed.
 * @throws LockError `LOCK_INVALID` when the pool does not tell
 */
export function poolOfOne(pool: MysqlPool): PoolOfOne {
  const core = coreOf(pool) as CallbackPool & PoolState;
  const { config } = core;
  if (!config?.connectionConfig) {
    throw invalid('this pool does not tell how to open a connection like its own: leave out ownConnection');
  }
  const connectionConfig = copyOf(config.connectionConfig, {}); // the pool writes to it
  const one = copyOf(config, {
    connectionConfig,
    connectionLimit: 1,
    maxIdle: 1,
    waitForConnections: true,
    queueLimit: 0,
  });
  return new (core.constructor as new (options: object) => PoolOfOne)({ config: one });
}

function copyOf(given: object, changes: object): object {
  return Object.assign(Object.create(Object.getPrototypeOf(given), Object.getOwnPropertyDescriptors(given)), changes);
}
