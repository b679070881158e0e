import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MYSQL_DATABASE as DATABASE, flagsOfMysql, type MysqlSettings } from './mysql-flags.ts';
import { exchange, freePort, HOST } from './net.ts';
import { program } from './programs.ts';
import { Server } from './server.ts';
import { copyTemplate } from './template.ts';

/** Of MySQL, which knows root only as `localhost`: this one comes over TCP. */
const INIT = [
  `CREATE DATABASE IF NOT EXISTS ${DATABASE};`,
  `CREATE USER IF NOT EXISTS root@'${HOST}';`,
  `GRANT ALL ON *.* TO root@'${HOST}' WITH GRANT OPTION;\n`,
].join('\n');
/** An empty database of MySQL is large: what it keeps for undoing and redoing is as small as it may be. */
const SMALL = ['--innodb-redo-log-capacity=8M', '--innodb-buffer-pool-size=16M'];

/** MySQL itself. The user is root, without a password. */
export async function startMysql(settings: MysqlSettings = {}): Promise<Server> {
  const port = await freePort();
  const command = program('mysqld', 'mysqld');
  const asRoot = process.getuid?.() === 0 ? ['--user=root'] : [];
  return Server.start({
    name: 'mysqld',
    port,
    url: `mysql://root@${HOST}:${port}/${DATABASE}`,
    command,
    async prepare(data, folder) {
      await copyTemplate(command, data, (made) => [
        ...[command, '--no-defaults', '--initialize-insecure', `--datadir=${made}`, ...SMALL, ...asRoot],
      ]);
      rmSync(join(data, 'auto.cnf'), { force: true }); // who it is, which no two servers may share
      writeFileSync(join(folder, 'init.sql'), INIT);
    },
    args: (data, folder) => [
      ...['--no-defaults', ...SMALL, ...asRoot, '--mysqlx=OFF', '--secure-file-priv='],
      ...flagsOfMysql({ data, folder, port, settings }),
    ],
    // Its greeting comes unasked.
    ready: async () => (await exchange(port, '', (greeting) => greeting.includes('_password'))).includes('_password'),
  });
}
