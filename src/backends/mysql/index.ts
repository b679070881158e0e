export { type MysqlBackend, type MysqlOptions, mysql } from './backend.ts';
export { type MysqlNamedOptions, mysqlNamed } from './named-backend.ts';
export type { MysqlPool } from './pool.ts';
