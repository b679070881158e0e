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
export const startPostgres = async (settings?: PostgresSettings, certificate?: Certificate): Promise<Server> =>
  Server.start(postgresPlan({ host: HOST, port: await freePort() }, settings, certificate));

/** Where a server is asked. */
interface At {
  readonly host: string;
  readonly port: number;
}

export const postgresPlan = (at: At, settings: PostgresSettings = {}, certificate?: Certificate): ServerPlan => ({
  ...planOf(at, { ssl: certificate ? 'on' : 'off', ...settings }),
  async prepare(data) {
    const owner = account();
    const initdb = program('postgres', 'initdb');
    await copyTemplate(
      program('postgres', 'postgres'),
      data,
      (made) => [initdb, '-D', made, '-U', 'postgres', '--auth=trust', '--no-sync', '-E', 'UTF8', '--locale=C'],
      owner,
    );
    if (certificate) secure(data, certificate, owner);
  },
});

/** A standby that streams from `primary`, with its settings and data. */
export const startStandby = async (primary: Server): Promise<Server> =>
  Server.start({ ...planOf({ host: HOST, port: await freePort() }, {}), prepare: (data) => copyFrom(primary, data) });

/** Fills the folder of a standby, which then follows `primary`. */
export async function copyFrom({ host, port }: At, data: string): Promise<void> {
  const backup = program('postgres', 'pg_basebackup');
  const from = ['-h', host, '-p', `${port}`, '-U', 'postgres'];
  await run(backup, ['-D', data, ...from, '--write-recovery-conf', '--checkpoint=fast', '--no-sync'], { ...account() });
}

function planOf({ host, port }: At, settings: PostgresSettings): ServerPlan {
  const all = { listen_addresses: host, max_connections: '200', ...settings };
  return {
    name: 'postgres',
    port,
    url: `postgres://postgres@${host}:${port}/postgres`,
    command: program('postgres', 'postgres'),
    account: account(),
    args: (data, folder) => [
      ...['-D', data, '-p', `${port}`, '-k', folder],
      ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ],
    ready: async () => (await exchange(port, HELLO, (reply) => reply.length > 0, 1_000, host)).startsWith('R'),
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
