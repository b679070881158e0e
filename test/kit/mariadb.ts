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

export async function mariadbPlan(
  settings: MysqlSettings = {},
): Promise<ServerPlan & Required<Pick<ServerPlan, 'prepare'>>> {
  const port = await freePort();
  const asRoot = process.getuid?.() === 0 ? ['--user=root'] : [];
  const size = '--innodb-log-file-size=4M';
  const install = program('mariadb', 'mariadb-install-db');
  const command = program('mariadb', 'mariadbd');
  return {
    name: 'mariadbd',
    port,
    url: `mysql://root@${HOST}:${port}/${DATABASE}`,
    command,
    async prepare(data, folder) {
      await copyTemplate(command, data, (made) => [
        ...[install, '--no-defaults', `--datadir=${made}`, size, ...asRoot],
        ...['--auth-root-authentication-method=normal', '--skip-test-db'],
      ]);
      writeFileSync(join(folder, 'init.sql'), `CREATE DATABASE IF NOT EXISTS ${DATABASE};\n`);
    },
    args: (data, folder) => [
      ...['--no-defaults', size, '--innodb-buffer-pool-size=16M', ...asRoot],
      ...flagsOfMysql({ data, folder, port, settings }),
    ],
    // Its greeting comes unasked.
    ready: async () => (await exchange(port, '', (greeting) => greeting.includes('MariaDB'))).includes('MariaDB'),
  };
}
