export { type MysqlBackend, mysql } from './lease.ts';
export { mysqlNamed } from './named.ts';
export type { MysqlNamedOptions, MysqlOptions } from './options.ts';
export type { MysqlPool } from './pool.ts';
