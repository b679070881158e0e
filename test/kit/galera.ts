import { execFile } from 'node:child_process';
import { delimiter } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { mariadbPlan } from './mariadb.ts';
import type { MysqlSettings } from './mysql-flags.ts';
import { freePort, HOST } from './net.ts';
import { program } from './programs.ts';
import { Server, type ServerPlan } from './server.ts';

const run = promisify(execFile);
/** Of `wsrep_sst_same`. */
const SCRIPTS = fileURLToPath(new URL('fixtures/galera', import.meta.url));

/** A Galera cluster, the first of whose members began it. */
export interface Galera extends AsyncDisposable {
  readonly servers: readonly [Server, ...Server[]];
}

/**
 * The scripts that hand all data over to a new member come in a Debian package that also starts a service; so all members begin with the
 * same data, of a cluster of one that was stopped. What has happened since then comes by the members' own protocol.
 */
export async function startGalera(members = 2): Promise<Galera> {
  await using stack = new AsyncDisposableStack();
  const port = await freePort();
  const plan = await memberPlan(port, 'gcomm://', { 'wsrep-new-cluster': 'ON' });
  let data = '';
  const first = await Server.start({
    ...plan,
    async prepare(made, folder) {
      await plan.prepare(made, folder);
      data = made;
    },
  });
  stack.use(first);
  await first.stop();
  const others: Server[] = [];
  for (let i = 1; i < members; i++) {
    const other = await memberPlan(await freePort(), `gcomm://${HOST}:${port}`);
    const prepare = async (made: string, folder: string): Promise<void> => {
      await other.prepare(made, folder);
      await run('cp', ['-a', `${data}/.`, made]);
    };
    others.push(stack.use(await Server.start({ ...other, prepare }, { ready: false })));
  }
  await first.restart();
  await Promise.all(others.map((server) => server.ready()));
  const all = stack.move();
  return { servers: [first, ...others], [Symbol.asyncDispose]: () => all.disposeAsync() };
}

async function memberPlan(port: number, cluster: string, settings: MysqlSettings = {}) {
  const provider = [
    ...[
      `base_host=${HOST}`,
      `base_port=${port}`,
      `gmcast.listen_addr=tcp://${HOST}:${port}`,
      `ist.recv_addr=${HOST}:${await freePort()}`,
    ],
    ...['gcache.size=8M', 'pc.recovery=false'],
  ];
  const plan = await mariadbPlan({
    'wsrep-on': 'ON',
    'wsrep-provider': program('galera', '/usr/lib/galera/libgalera_smm.so'),
    'wsrep-cluster-name': 'holdfast',
    'wsrep-cluster-address': cluster,
    'wsrep-node-address': HOST,
    'wsrep-sst-method': 'same',
    'wsrep-provider-options': provider.join(';'),
    'binlog-format': 'ROW',
    'innodb-autoinc-lock-mode': '2',
    'innodb-flush-log-at-trx-commit': '1',
    ...settings,
  });
  const ready: ServerPlan['ready'] = async () => (await plan.ready()) && (await takesPart(plan.url).catch(() => false));
  const env = { ...process.env, PATH: `${SCRIPTS}${delimiter}${process.env.PATH}` };
  return { ...plan, name: 'mariadbd in a Galera cluster', env, ready };
}

async function takesPart(url: string): Promise<boolean> {
  const connection = await createConnection({ uri: url.replace(/[^/]*$/, ''), connectTimeout: 1_000 });
  connection.on('error', () => {});
  try {
    const [[row]] = await connection.query<RowDataPacket[]>("SHOW STATUS LIKE 'wsrep_ready'");
    return row?.Value === 'ON';
  } finally {
    connection.destroy();
  }
}
