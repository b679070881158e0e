import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MYSQL_DATABASE as DATABASE, flagsOfMysql, type MysqlSettings } from './mysql-flags.ts';
import { exchange, freePort, HOST } from './net.ts';
import { program } from './programs.ts';
import { Server, type ServerPlan } from './server.ts';
import { copyTemplate } from './template.ts';

/** The user is root, without a password. */
export const startMariadb = async (settings?: MysqlSettings): Promise<Server> =>
  Server.start(await mariadbPlan(settings));

type PreparedPlan = ServerPlan & Required<Pick<ServerPlan, 'prepare'>>;

export const mariadbPlan = async (settings?: MysqlSettings): Promise<PreparedPlan> =>
  mariadbPlanAt(HOST, await freePort(), settings);

/** @param host where it is asked. On another one than loopback it takes its user from everywhere. */
export function mariadbPlanAt(host: string, port: number, settings: MysqlSettings = {}): PreparedPlan {
  const asRoot = process.getuid?.() === 0 ? ['--user=root'] : [];
  const size = '--innodb-log-file-size=4M';
  const install = program('mariadb', 'mariadb-install-db');
  const command = program('mariadb', 'mariadbd');
  return {
    name: 'mariadbd',
    port,
    url: `mysql://root@${host}:${port}/${DATABASE}`,
    command,
    async prepare(data, folder) {
      await copyTemplate(command, data, (made) => [
        ...[install, '--no-defaults', `--datadir=${made}`, size, ...asRoot],
        ...['--auth-root-authentication-method=normal', '--skip-test-db'],
      ]);
      const everywhere = ["CREATE USER IF NOT EXISTS root@'%'", "GRANT ALL ON *.* TO root@'%' WITH GRANT OPTION"];
      const statements = [`CREATE DATABASE IF NOT EXISTS ${DATABASE}`, ...(host === HOST ? [] : everywhere)];
      writeFileSync(join(folder, 'init.sql'), statements.map((statement) => `${statement};\n`).join(''));
    },
    args: (data, folder) => [
      ...['--no-defaults', size, '--innodb-buffer-pool-size=16M', ...asRoot],
      ...flagsOfMysql({ data, folder, port, settings }),
    ],
    // Its greeting comes unasked.
    ready: async () =>
      (await exchange(port, '', (greeting) => greeting.includes('MariaDB'), 1_000, host)).includes('MariaDB'),
  };
}
