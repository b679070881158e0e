export { type MysqlBackend, type MysqlOptions, mysql } from './lease.ts';
export { type MysqlNamedOptions, mysqlNamed } from './named.ts';
export type { MysqlPool } from './pool.ts';
