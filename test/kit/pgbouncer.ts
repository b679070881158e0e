import { chownSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exchange, freePort, HOST } from './net.ts';
import { account, HELLO } from './postgres.ts';
import { program } from './programs.ts';
import { Server } from './server.ts';

/** A PgBouncer in transaction mode before the PostgreSQL at a port. */
export async function startPgbouncer(server: number): Promise<Server> {
  const port = await freePort();
  const owner = account();
  const settings = {
    ...{ listen_addr: HOST, listen_port: port, unix_socket_dir: '', auth_type: 'any', pool_mode: 'transaction' },
    ...{ default_pool_size: 20, max_client_conn: 500 },
  };
  const file = [
    '[databases]',
    `postgres = host=${HOST} port=${server} user=postgres`,
    '[pgbouncer]',
    ...Object.entries(settings).map(([name, value]) => `${name} = ${value}`),
  ];
  return Server.start({
    name: 'pgbouncer',
    port,
    url: `postgres://postgres@${HOST}:${port}/postgres`,
    command: program('pgbouncer', 'pgbouncer'),
    account: owner,
    prepare(data) {
      const path = join(data, 'pgbouncer.ini');
      writeFileSync(path, `${file.join('\n')}\n`);
      if (owner) chownSync(path, owner.uid, owner.gid);
    },
    args: (data) => [join(data, 'pgbouncer.ini')],
    ready: async () => (await exchange(port, HELLO, (reply) => reply.length > 0)).length > 0,
  });
}
