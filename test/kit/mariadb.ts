import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exchange, freePort, HOST } from './net.ts';
import { program } from './programs.ts';
import { Server, type ServerPlan } from './server.ts';
import { copyTemplate } from './template.ts';

/** Options of mariadbd without the dashes. */
export type MariadbSettings = Readonly<Record<string, string>>;

const DATABASE = 'holdfast';

/** The user is root, without a password. */
export const startMariadb = async (settings?: MariadbSettings): Promise<Server> =>
  Server.start(await mariadbPlan(settings));

export async function mariadbPlan(
  settings: MariadbSettings = {},
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
      ...['--no-defaults', `--datadir=${data}`, size, ...asRoot, `--init-file=${join(folder, 'init.sql')}`],
      // A server that starts deletes what it takes for its own old files there, which may be those of another one.
      `--tmpdir=${folder}`,
      ...[`--socket=${join(folder, 's')}`, `--pid-file=${join(folder, 'pid')}`, `--bind-address=${HOST}`],
      ...[`--port=${port}`, '--skip-name-resolve', '--innodb-buffer-pool-size=16M', '--performance-schema=OFF'],
      ...Object.entries(settings).map(([name, value]) => `--${name}=${value}`),
    ],
    // Its greeting comes unasked.
    ready: async () => (await exchange(port, '', (greeting) => greeting.includes('MariaDB'))).includes('MariaDB'),
  };
}
