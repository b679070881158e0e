export type MysqlNamedOptions = {};
export function mysqlNamed(): void {}
