export { type MysqlBackend, mysql } from './backend.ts';
export { mysqlNamed } from './named-backend.ts';
export type { MysqlNamedOptions, MysqlOptions } from './options.ts';
export type { MysqlPool } from './pool.ts';
