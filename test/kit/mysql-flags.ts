import { join } from 'node:path';
import { HOST } from './net.ts';

/** Options of mariadbd or mysqld without the dashes. */
export type MysqlSettings = Readonly<Record<string, string>>;

export const MYSQL_DATABASE = 'holdfast';

interface Place {
  readonly data: string;
  readonly folder: string;
  readonly port: number;
  readonly settings: MysqlSettings;
}

/** What MariaDB and MySQL are both started with. */
export const flagsOfMysql = ({ data, folder, port, settings }: Place): string[] => [
  ...[`--datadir=${data}`, `--init-file=${join(folder, 'init.sql')}`],
  // A server that starts deletes what it takes for its own old files there, which may be those of another one.
  `--tmpdir=${folder}`,
  ...[`--socket=${join(folder, 's')}`, `--pid-file=${join(folder, 'pid')}`, `--bind-address=${HOST}`],
  ...[`--port=${port}`, '--skip-name-resolve', '--performance-schema=OFF'],
  ...Object.entries(settings).map(([name, value]) => `--${name}=${value}`),
];
