import { execFile } from 'node:child_process';
import { chownSync, copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Certificate } from './certificates.ts';
import type { Account } from './folder.ts';
import { exchange, freePort, HOST } from './net.ts';
import { program } from './programs.ts';
import { Server, type ServerPlan } from './server.ts';
import { copyTemplate } from './template.ts';

const run = promisify(execFile);

/** Lines of postgresql.conf. */
export type PostgresSettings = Readonly<Record<string, string>>;

/** PostgreSQL and PgBouncer refuse to run as root. */
export function account(): Account | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const line = readFileSync('/etc/passwd', 'utf8').match(/^postgres:[^:]*:(\d+):(\d+):/m);
  if (!line) throw new Error('PostgreSQL does not run as root, and there is no user postgres to run it as');
  return { uid: Number(line[1]), gid: Number(line[2]) };
}

/** The start-up packet of protocol 3.0; a server that is not ready yet answers it with an error. */
export const HELLO = Buffer.from('\0\0\0\x17\0\x03\0\0user\0postgres\0\0', 'latin1');

/** The user is postgres, without a password. */
export async function startPostgres(settings: PostgresSettings = {}, certificate?: Certificate): Promise<Server> {
  const port = await freePort();
  const initdb = program('postgres', 'initdb');
  const command = program('postgres', 'postgres');
  const owner = account();
  const all = { ssl: certificate ? 'on' : 'off', ...settings };
  return Server.start({
    ...planOf(port, command, owner, all),
    async prepare(data) {
      await copyTemplate(
        command,
        data,
        (made) => [initdb, '-D', made, '-U', 'postgres', '--auth=trust', '--no-sync', '-E', 'UTF8', '--locale=C'],
        owner,
      );
      if (certificate) secure(data, certificate, owner);
    },
  });
}

/** A standby that streams from `primary`, with its settings and data. */
export async function startStandby(primary: Server): Promise<Server> {
  const owner = account();
  const backup = program('postgres', 'pg_basebackup');
  return Server.start({
    ...planOf(await freePort(), program('postgres', 'postgres'), owner, {}),
    async prepare(data) {
      const from = ['-h', HOST, '-p', `${primary.port}`, '-U', 'postgres'];
      await run(backup, ['-D', data, ...from, '--write-recovery-conf', '--checkpoint=fast', '--no-sync'], { ...owner });
    },
  });
}

function planOf(port: number, command: string, owner: Account | undefined, settings: PostgresSettings): ServerPlan {
  const all = { listen_addresses: HOST, max_connections: '200', ...settings };
  return {
    name: 'postgres',
    port,
    url: `postgres://postgres@${HOST}:${port}/postgres`,
    command,
    account: owner,
    args: (data, folder) => [
      ...['-D', data, '-p', `${port}`, '-k', folder],
      ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ],
    ready: async () => (await exchange(port, HELLO, (reply) => reply.length > 0)).startsWith('R'),
    // SIGTERM waits for the clients to go. SIGKILL would leave its shared memory behind.
    stopSignal: 'SIGINT',
    endSignal: 'SIGQUIT',
    tooSoon: /pre-existing shared memory block/,
  };
}

/** Under the names it looks for. The key it takes only from a file of its own. */
function secure(data: string, { cert, key }: Certificate, owner: Account | undefined): void {
  for (const [from, name] of [
    [cert, 'server.crt'],
    [key, 'server.key'],
  ] as const) {
    const path = join(data, name);
    copyFileSync(from, path);
    if (owner) chownSync(path, owner.uid, owner.gid);
  }
}
